package e2e_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

const (
	endedRows = 12
	// healEvery is the number of ended runs after which one runs undisturbed.
	healEvery = 6
	// leastMoments is fewer than any run of these tests has.
	leastMoments = 10
)

// endedInputs returns a shop's inputs whose Deployments make no ReplicaSets. Hundreds of
// those would only keep the control plane busy.
func endedInputs() string {
	return strings.Replace(shopInputs, "replicas: 0", "paused: true", 1)
}

// TestApplyKilled ends runs with SIGKILL at each kind of their writes. It wants every
// object in an inventory at any time, and the next undisturbed run to repair everything.
func TestApplyKilled(t *testing.T) {
	t.Parallel()
	e := &endings{
		shop: newShop(t, endedInputs(), endedRows, faultproxy.Options{}),
		fates: []fate{
			{Rule: faultproxy.Rule{Delay: time.Hour}},         // later requests never arrive
			{Rule: faultproxy.Rule{End: faultproxy.CutAfter}}, // it takes effect, but lynqctl gets no answer
		},
	}
	e.end = func(t *testing.T, r *running, _ func()) {
		kill(t, r, syscall.SIGKILL)
		<-r.done
		e.deleteLease(t) // otherwise each next run would wait until it expires
	}
	e.wrong = (*snapshot).unnamed
	e.run(t)
}

// TestApplyInterrupted ends runs with SIGINT at each kind of their writes. It wants
// requests in progress to finish, complete inventories, and a free Lease.
func TestApplyInterrupted(t *testing.T) {
	t.Parallel()
	e := &endings{
		shop:  newShop(t, endedInputs(), endedRows, faultproxy.Options{}),
		fates: []fate{{held: true}}, // a request is in progress
	}
	e.end = func(t *testing.T, r *running, goOn func()) {
		kill(t, r, syscall.SIGINT)
		r.hears()
		goOn()
		r.want(t, 130)
	}
	e.wrong = func(s *snapshot) []string { return append(s.unnamed(), s.unconfirmed()...) }
	e.run(t)
}

// TestApplyInterruptedLocking interrupts a run before it knows that it has the hub. The run
// must release the hub.
func TestApplyInterruptedLocking(t *testing.T) {
	t.Parallel()
	s := newShop(t, shopInputs, 5, faultproxy.Options{})
	create := faultproxy.Key{Verb: "create", Resource: "leases.coordination.k8s.io"}
	ended := make(chan struct{})
	free := sync.OnceFunc(func() { close(ended) })
	defer free()
	s.proxy.SetRules(
		faultproxy.Rule{Verb: create.Verb, Resource: create.Resource, End: faultproxy.CutAfter, Times: 1},
		// The run tries again, and gets no answer before it is interrupted.
		faultproxy.Rule{Verb: create.Verb, Resource: create.Resource, End: faultproxy.CutBefore, Before: func() { <-ended }})
	r := s.startApply(t, "--wait=false")
	if !s.until(t, r, func(records []faultproxy.Record) bool { return faultproxy.Count(records)[create] > 1 }) {
		t.Errorf("it ended with code %d, and did not try again", r.code)
	}
	kill(t, r, syscall.SIGINT)
	<-r.done
	free()
	s.proxy.SetRules()
	r.want(t, 130, "interrupted")
	shot := s.look(t)
	complain(t, shot.locked())
	if shot.lease == nil {
		t.Error("there is no Lease: it was never taken")
	}
	s.apply(t, "--wait=false", "--lock-timeout=0s").want(t, 0)
	s.settled(t)
}

// TestApplyInterruptedInVain wants an interrupted run to end even if the server no longer
// answers.
func TestApplyInterruptedInVain(t *testing.T) {
	t.Parallel()
	s := newShop(t, shopInputs, 5, faultproxy.Options{})
	s.proxy.SetRules(faultproxy.Rule{Verb: "patch", Skip: 4, Delay: time.Hour}, faultproxy.Rule{Verb: "update", Delay: time.Hour})
	r := s.startApply(t, "--wait=false")
	s.until(t, r, func(records []faultproxy.Record) bool {
		return faultproxy.Count(records)[faultproxy.Key{Verb: "patch", Resource: "configmaps"}] > 4
	})
	kill(t, r, syscall.SIGINT)
	r.want(t, 130, "interrupted")
	complain(t, s.look(t).unnamed())
	s.proxy.SetRules()
	s.deleteLease(t)
	s.apply(t, "--wait=false").want(t, 0)
	s.settled(t)
}

// endings ends runs of one hub early. The rows change from run to run, so that every run
// has the same kinds of writes.
type endings struct {
	*shop
	changes int
	fates   []fate
	// end ends a run. It calls goOn to release the held write.
	end func(t *testing.T, r *running, goOn func())
	// wrong returns what must not be so afterwards.
	wrong func(*snapshot) []string
}

// fate says what happens to the write at which a run ends.
type fate struct {
	faultproxy.Rule
	held bool // it waits until the run knows that it must end
}

// write is a kind of write: the verb, and the objects or the record.
type write struct{ verb, resource, record string }

func writeOf(r faultproxy.Request) write {
	w := write{verb: r.Verb, resource: r.Resource}
	for _, prefix := range []string{"lynqnode-", "lynqhub-"} {
		if strings.HasPrefix(r.Name, prefix) {
			w.record = prefix
		}
	}
	return w
}

// moment is a write at which a run ends: the first of its kind, or a later one.
type moment struct {
	write
	skip int
	fate fate
}

// moments returns the first write of each kind in a run, and a later one if there are many,
// with each fate. It skips Leases and events, which aren't the purpose of a run.
func (e *endings) moments(records []faultproxy.Record) []moment {
	counts := map[write]int{}
	for _, r := range records {
		if r.IsWrite() && r.Resource != "leases.coordination.k8s.io" && r.Resource != "events" {
			counts[writeOf(r.Request)]++
		}
	}
	var moments []moment
	for w, n := range counts {
		for _, skip := range slices.Compact([]int{0, n / 3}) {
			for _, fate := range e.fates {
				moments = append(moments, moment{w, skip, fate})
			}
		}
	}
	return moments
}

func (e *endings) run(t *testing.T) {
	e.heal(t)
	e.change(t)
	e.proxy.Reset()
	e.heal(t)
	moments := e.moments(e.proxy.Records())
	if len(moments) < leastMoments*len(e.fates) {
		t.Fatalf("a run has more moments than %+v", moments)
	}
	for i, m := range moments {
		e.change(t)
		e.round(t, m)
		if i%healEvery == 0 || i == len(moments)-1 {
			e.heal(t)
			e.settled(t)
		}
		if t.Failed() {
			t.Fatalf("after %d runs; the last ended at %+v", i+1, m)
		}
	}
}

func (e *endings) flags() []string { return []string{"--wait=false", "--max-delete=100%"} }

// heal applies without disturbance.
func (e *endings) heal(t *testing.T) {
	t.Helper()
	e.proxy.SetRules()
	e.apply(t, e.flags()...).want(t, 0)
}

// round ends one run.
func (e *endings) round(t *testing.T, m moment) {
	t.Helper()
	meant := func(r faultproxy.Request) bool { return writeOf(r) == m.write }
	held := make(chan struct{})
	goOn := sync.OnceFunc(func() { close(held) })
	defer goOn()
	rule := m.fate.Rule
	rule.Match, rule.Skip = meant, m.skip
	if m.fate.held {
		rule.Before = func() { <-held }
	}
	e.proxy.SetRules(rule)
	e.proxy.Reset()
	r := e.startApply(t, e.flags()...)
	if !e.until(t, r, func(records []faultproxy.Record) bool {
		sent := 0
		for _, record := range records {
			if meant(record.Request) {
				sent++
			}
		}
		return sent > m.skip
	}) {
		t.Fatalf("it ended with code %d before %+v:\n%s", r.code, m, r.stderr.String())
	}
	e.end(t, r, goOn)
	complain(t, e.wrong(e.look(t)))
}

// change changes half of the rows. One leaves for ever, and a new one comes. Of two others,
// one leaves while the other comes back.
func (e *endings) change(t *testing.T) {
	t.Helper()
	n := e.changes
	e.changes++
	for i, uid := range slices.Sorted(maps.Keys(e.rows)) {
		if i%2 == n%2 {
			e.rows[uid] = fmt.Sprintf("plan-%d", n)
		}
	}
	delete(e.rows, fmt.Sprintf("t%03d", n))
	delete(e.rows, fmt.Sprintf("back-%d", n%2))
	e.rows[fmt.Sprintf("t%03d", n+endedRows)] = "free"
	e.rows[fmt.Sprintf("back-%d", 1-n%2)] = "free"
	e.writeRows(t)
}

// kill sends a signal.
func kill(t *testing.T, r *running, signal syscall.Signal) {
	t.Helper()
	if err := r.cmd.Process.Signal(signal); err != nil {
		t.Fatalf("%v:\n%s", err, r.stderr.String())
	}
}

// newRandom returns another source of random numbers each time. LYNQCTL_TEST_SEED repeats
// an earlier one.
func newRandom(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("LYNQCTL_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("LYNQCTL_TEST_SEED: %v", err)
		}
	}
	t.Logf("for the same moments again: LYNQCTL_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}
