package e2e_test

import (
	"bufio"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

const (
	soakRows = 16
	// soakFor is the length of the soak without LYNQCTL_SOAK.
	soakFor = 30 * time.Second
	// soakSpare allows one more write in this many needed ones.
	soakSpare = 20
)

// TestWatchSoak lets a watch run while much happens to its rows, forms, objects and
// inventories, and to the server. When it has settled, everything must match rows and
// forms. It must have written no more than needed, and its process must not have grown.
//
// LYNQCTL_SOAK=20m lets it last that long, on its own control plane, whose API server the
// test kills now and then.
func TestWatchSoak(t *testing.T) {
	t.Parallel()
	length, shared := soakFor, &cluster
	if text := os.Getenv("LYNQCTL_SOAK"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatalf("LYNQCTL_SOAK: %v", err)
		}
		shared = &harness.Shared{Own: true}
		t.Cleanup(shared.Stop)
	}
	s := &soak{watchedShop: newWatchedShop(t, shared.Env(t), soakRows), random: newRandom(t), own: shared != &cluster}
	s.watching = s.watch(t, "--max-delete=50%", "--max-delete-window=0", "--listen=127.0.0.1:0")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the watch said:\n%s", s.watching.stderr.String())
		}
	})
	address := s.watching.address(t)
	s.follows(t)
	s.need(soakRows*len(shopObjects()), "the first round")
	s.step(t)
	before := s.process(t, address)
	for end := time.Now().Add(length); time.Now().Before(end) && !t.Failed(); {
		s.step(t)
	}
	s.proxy.SetRules()
	s.follows(t)
	after := s.rested(t, address, before)
	kill(t, s.watching, syscall.SIGTERM)
	s.watching.want(t, 130)
	s.settled(t)
	s.start(t, "inventory", "verify").want(t, 0)
	s.report(t, before, after)
}

// soak is a running watch, with everything that has happened.
type soak struct {
	*watchedShop
	random   *rand.Rand
	own      bool // the control plane is the test's
	watching *running
	steps    int
	made     int            // counts rows, so that each has its own name
	gone     []string       // rows that were removed in this step
	back     []string       // rows that were removed before, and may come back
	happened map[string]int // how often, by name
	now      []string       // in this step
	needed   int            // writes of objects
}

// need notes an event, and how many writes of objects it needs.
func (s *soak) need(writes int, what string) {
	if s.happened == nil {
		s.happened = map[string]int{}
	}
	s.happened[what]++
	s.now = append(s.now, what)
	s.needed += writes
}

// value returns a value that no field had before.
func (s *soak) value() string {
	s.made++
	return fmt.Sprintf("v%d", s.made)
}

// step lets several things happen at the same time, each to another node. Meanwhile the
// server, the source or the form may have a problem. It waits until the watch has done what
// is needed.
func (s *soak) step(t *testing.T) {
	t.Helper()
	s.steps++
	s.now, s.back, s.gone = nil, append(s.back, s.gone...), nil
	needed, written := s.needed, s.written()
	pick(s.random, s.troubles())(s, t)
	s.proxy.SetRules()
	s.follows(t)
	t.Logf("step %d: %s: needed %d, written %d", s.steps, strings.Join(s.now, ", "), s.needed-needed, s.written()-written)
}

// written counts the writes of objects that took effect, as far as the client knows.
func (s *soak) written() int {
	n := 0
	for _, r := range s.proxy.Records() {
		if writesObject(r.Request) && succeeded(r) {
			n++
		}
	}
	return n
}

// troubles returns the problems that may happen together with changes of nodes.
func (s *soak) troubles() []func(*soak, *testing.T) {
	all := []func(*soak, *testing.T){
		(*soak).burst,
		(*soak).burst,
		(*soak).changeForm,
		(*soak).breakForm,
		(*soak).cutForm,
		(*soak).addForm,
		(*soak).hideSource,
		(*soak).applyByHand,
		(*soak).expireWatches,
		(*soak).closeWatches,
		(*soak).serverErrors,
		(*soak).cutConnections,
	}
	if s.own {
		all = append(all, (*soak).restartServer)
	}
	return all
}

// burst changes up to four nodes.
func (s *soak) burst(t *testing.T) {
	t.Helper()
	uids := slices.Sorted(maps.Keys(s.rows))
	s.random.Shuffle(len(uids), func(i, j int) { uids[i], uids[j] = uids[j], uids[i] })
	rows := false
	for _, uid := range uids[:1+s.random.IntN(4)] {
		rows = s.disturb(t, uid) || rows
	}
	if rows {
		s.saveRows(t)
	}
}

// disturb changes a node. It reports whether it changed its row.
func (s *soak) disturb(t *testing.T, uid string) (row bool) {
	t.Helper()
	switch s.random.IntN(7) {
	case 0:
		s.rows[uid] = s.value()
		s.need(len(shopObjects()), "row changed")
		return true
	case 1:
		s.addRow()
		return true
	case 2:
		if len(s.rows) < soakRows {
			s.addRow()
			return true
		}
		delete(s.rows, uid)
		s.gone = append(s.gone, uid)
		s.need(len(shopObjects()), "row removed") // two are deleted, and one becomes an orphan
		return true
	case 3:
		s.loseObject(t, uid)
	case 4:
		s.deleteByHand(t, shopKinds()[2], "lynqnode-"+uid+"-app")
		s.need(4, "inventory deleted") // it owns two objects: each loses its owner, and gets the new one
	case 5:
		s.removeField(t, uid)
	default:
		s.edit(t, uid)
	}
	return false
}

// addRow adds a new or a former row.
func (s *soak) addRow() {
	uid := s.value()
	if n := len(s.back); n > 0 && s.random.IntN(2) == 0 {
		uid, s.back = s.back[n-1], s.back[:n-1]
	}
	s.rows[uid] = s.value()
	s.need(len(shopObjects()), "row added")
}

func (s *soak) edit(t *testing.T, uid string) {
	t.Helper()
	s.editByHand(t, uid, pick(s.random, shopObjects()), s.value())
	s.need(1, "object edited")
}

func (s *soak) loseObject(t *testing.T, uid string) {
	t.Helper()
	o := pick(s.random, shopObjects())
	s.deleteByHand(t, o.kind, uid+o.suffix)
	s.need(1, "object deleted")
}

// removeField removes a field that the form sets.
func (s *soak) removeField(t *testing.T, uid string) {
	t.Helper()
	o := pick(s.random, shopObjects())
	o.edit = strings.Replace(o.edit, "%q", "null", 1)
	s.patchByHand(t, uid, o, []byte(o.edit))
	s.need(1, "field removed")
}

// changeForm changes one object of each node.
func (s *soak) changeForm(t *testing.T) {
	t.Helper()
	field := fmt.Sprintf(`data: {form: %s, plan: "{{ .plan }}"}`, s.value())
	s.write(t, "inputs.yaml", s.inputs(strings.Replace(watchedInputs(), `data: {plan: "{{ .plan }}"}`, field, 1)))
	s.need(len(s.rows), "form changed")
}

// breakForm adds an invalid form while things happen, and removes it.
func (s *soak) breakForm(t *testing.T) {
	t.Helper()
	const says, good = "your files changed and have errors", "your files are as before again"
	s.whileBad(t, says, good, "bad.yaml", "kind: [\n", func() error { return os.Remove(filepath.Join(s.dir, "bad.yaml")) })
	s.need(0, "form broken")
}

// cutForm writes the form like a slow program: first without the end.
func (s *soak) cutForm(t *testing.T) {
	t.Helper()
	path := filepath.Join(s.dir, "inputs.yaml")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cut, _, _ := strings.Cut(string(whole), ` .uid }}-web"`)
	const says, good = "the last good inputs until somebody repairs the files", "lynqctl loaded the inputs again"
	s.whileBad(t, says, good, "inputs.yaml", cut, func() error { return os.WriteFile(path, whole, 0o600) })
	s.need(0, "form half written")
}

// whileBad edits objects while an input file is invalid. The log must report this, and that
// the file is good again.
func (s *soak) whileBad(t *testing.T, says, good, file, text string, mend func() error) {
	t.Helper()
	before := strings.Count(s.watching.stderr.String(), says)
	objects, nodes := s.desired(t)
	s.write(t, file, text)
	s.watching.saysAgain(t, says, before)
	s.editSome(t)
	s.becomes(t, objects, nodes)
	before = strings.Count(s.watching.stderr.String(), good)
	if err := mend(); err != nil {
		t.Fatal(err)
	}
	s.watching.saysAgain(t, good, before)
}

// waitingForm renders a ConfigMap for each row, and for one row a Deployment that is never
// ready.
const waitingForm = `apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: waiting}
spec:
  hubId: HUB
  configMaps:
    - id: note
      nameTemplate: "{{ .uid }}-note"
      spec: {apiVersion: v1, kind: ConfigMap, data: {uid: "{{ .uid }}"}}
  deployments:
    - id: never
      includeWhen: '{{ eq .uid "t000" }}'
      nameTemplate: "{{ .uid }}-never"
      spec:
        apiVersion: apps/v1
        kind: Deployment
        spec:
          replicas: 1
          selector: {matchLabels: {app: "{{ .uid }}-never"}}
          template:
            metadata: {labels: {app: "{{ .uid }}-never"}}
            spec: {containers: [{name: server, image: example.com/server}], nodeSelector: {no: node}}
`

// addForm adds a file with a form, whose node waits while things happen. The round records
// what it wrote for that node when the node no longer waits. Then addForm removes the file,
// and deletes the form's nodes.
func (s *soak) addForm(t *testing.T) {
	t.Helper()
	const stays, watching = "which isn't in your files, and stay as they are", ": watching"
	objects := len(s.rows)
	if _, ok := s.rows["t000"]; ok {
		objects++
	}
	s.forms = []string{"waiting"}
	s.write(t, "waiting.yaml", s.inputs(waitingForm))
	s.need(objects, "file added")
	if objects > len(s.rows) { // the round waits, until an edit ends it
		s.Kubectl(t, "", "wait", "--for=create", "deployment/t000-never", "--timeout=120s")
	} else {
		s.follows(t)
	}
	s.editSome(t)
	s.follows(t)
	s.forms = nil
	before := strings.Count(s.watching.stderr.String(), stays)
	if err := os.Remove(filepath.Join(s.dir, "waiting.yaml")); err != nil {
		t.Fatal(err)
	}
	s.watching.saysAgain(t, stays, before)
	before = strings.Count(s.watching.stderr.String(), watching)
	s.start(t, "delete", "form", "waiting", "--yes").want(t, 0)
	s.watching.saysAgain(t, watching, before)
	s.need(0, "file removed") // the garbage collector deletes the objects
}

// editSome edits objects of two nodes.
func (s *soak) editSome(t *testing.T) {
	t.Helper()
	uids := slices.Sorted(maps.Keys(s.rows))
	first := s.random.IntN(len(uids))
	s.edit(t, uids[first])
	s.edit(t, uids[(first+1)%len(uids)])
}

// hideSource moves the rows' file away while objects are edited, and restores it.
func (s *soak) hideSource(t *testing.T) {
	t.Helper()
	const says = "its rows can't be read, and the last good rows count"
	before := strings.Count(s.watching.stderr.String(), says)
	objects, nodes := s.desired(t)
	away := filepath.Join(t.TempDir(), "rows.db")
	if err := os.Rename(s.tablePath(), away); err != nil {
		t.Fatal(err)
	}
	s.need(0, "source gone")
	s.watching.saysAgain(t, says, before)
	s.editSome(t)
	s.becomes(t, objects, nodes)
	const back = "its rows can be read again"
	before = strings.Count(s.watching.stderr.String(), back)
	if err := os.Rename(away, s.tablePath()); err != nil {
		t.Fatal(err)
	}
	s.watching.saysAgain(t, back, before)
}

// applyByHand applies beside the watch, while there may be work.
func (s *soak) applyByHand(t *testing.T) {
	t.Helper()
	s.burst(t)
	const says = ": watching"
	before := strings.Count(s.watching.stderr.String(), says)
	s.apply(t, "--wait=false", "--max-delete=50%").want(t, 0)
	s.watching.saysAgain(t, says, before)
	s.follows(t)
	s.editSome(t) // restored objects prove that the watch read the rows again
	s.need(0, "apply by hand")
}

// expireWatches cuts all watches, and makes the server forget their positions.
func (s *soak) expireWatches(t *testing.T) {
	t.Helper()
	s.proxy.SetRules(faultproxy.Rule{Verb: "watch", Status: http.StatusGone, Times: 1 + s.random.IntN(6)})
	s.proxy.Disconnect()
	s.burst(t)
	s.need(0, "watches expired")
}

// closeWatches ends watches again and again, after some events.
func (s *soak) closeWatches(t *testing.T) {
	t.Helper()
	end := pick(s.random, []faultproxy.End{faultproxy.CloseAfter, faultproxy.CutAfter})
	s.proxy.SetRules(faultproxy.Rule{Verb: "watch", End: end, Events: s.random.IntN(3), Times: 10})
	s.proxy.Disconnect()
	s.burst(t)
	s.need(0, "watches closed")
}

// serverErrors makes the server answer like a busy or failing one.
func (s *soak) serverErrors(t *testing.T) {
	t.Helper()
	rule := faultproxy.Rule{Status: pick(s.random, []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable})}
	if rule.Status == http.StatusTooManyRequests {
		rule.RetryAfter = 1
	}
	s.proxy.SetRules(each(slices.Concat(objectWrites(), recordWrites(), reads()), rule)...)
	s.burst(t)
	s.need(0, "server errors")
}

// cutConnections cuts writes before or after they take effect.
func (s *soak) cutConnections(t *testing.T) {
	t.Helper()
	end := pick(s.random, []faultproxy.End{faultproxy.CutBefore, faultproxy.CutAfter})
	s.proxy.SetRules(each(slices.Concat(objectWrites(), recordWrites()), faultproxy.Rule{End: end})...)
	s.burst(t)
	s.need(0, "connections cut")
}

// restartServer kills the API server while the watch may be working.
func (s *soak) restartServer(t *testing.T) {
	t.Helper()
	s.burst(t)
	s.RestartAPIServer(t)
	s.need(0, "API server killed")
}

// figures are the resources of a process.
type figures struct{ goroutines, resident, heap float64 }

// process reads the figures of the watch.
func (s *soak) process(t *testing.T, address string) figures {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	values := map[string]float64{}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if name, text, ok := strings.Cut(lines.Text(), " "); ok {
			values[name], _ = strconv.ParseFloat(text, 64) // comments aren't numbers
		}
	}
	if lines.Err() != nil || values["go_goroutines"] == 0 {
		t.Fatalf("no figures of the process: %v", lines.Err())
	}
	return figures{values["go_goroutines"], values["process_resident_memory_bytes"], values["go_memstats_heap_inuse_bytes"]}
}

// report fails the test if the watch wrote more than needed.
func (s *soak) report(t *testing.T, before, after figures) {
	t.Helper()
	for _, what := range slices.Sorted(maps.Keys(s.happened)) {
		t.Logf("%s: %d", what, s.happened[what])
	}
	written := s.written()
	t.Logf("%d steps; %d writes of objects, %d needed", s.steps, written, s.needed)
	const MiB = 1 << 20
	t.Logf("goroutines %.0f, then %.0f; resident memory %.1f MiB, then %.1f; heap %.1f MiB, then %.1f", before.goroutines, after.goroutines,
		before.resident/MiB, after.resident/MiB, before.heap/MiB, after.heap/MiB)
	if most := s.needed + s.needed/soakSpare; written > most {
		t.Errorf("%d writes of objects, of which %d were needed", written, s.needed)
	}
}

// rested reads the figures at the end. A round that still waits for objects has goroutines of
// its own, which end with it. Lost ones stay.
func (s *soak) rested(t *testing.T, address string, before figures) (after figures) {
	t.Helper()
	eventually(t, func() []string {
		if after = s.process(t, address); after.goroutines > 2*before.goroutines {
			return []string{fmt.Sprintf("%.0f goroutines, after %.0f at the beginning", after.goroutines, before.goroutines)}
		}
		return nil
	})
	return after
}
