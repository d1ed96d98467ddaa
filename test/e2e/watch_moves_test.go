package e2e_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// movedText is a form's only resource.
const movedText = `  configMaps:
    - {id: text, nameTemplate: "{{ .slug }}-text", spec: {apiVersion: v1, kind: ConfigMap}}
`

// quietFor is the time without writes after which a watch counts as done.
const quietFor = time.Second

// killedWatchedMove kills a watch that moves all objects of a node to another hub.
func killedWatchedMove(t *testing.T) *kills {
	t.Helper()
	k := killedMove(t)
	k.once = func(t *testing.T, write int) bool { t.Helper(); return k.watchedBefore(t, write) }
	return k
}

// watchedBefore runs a watch until it has nothing to do, or kills it before a write. Writes
// of the Lease don't count, because they depend on time.
func (k *kills) watchedBefore(t *testing.T, write int) (killed bool) {
	t.Helper()
	met, gone := make(chan struct{}), make(chan struct{})
	defer close(gone)
	if write > 0 {
		k.proxy.SetRules(faultproxy.Rule{Match: writesMore, Skip: write - 1, Times: 1, End: faultproxy.CutBefore, Before: func() {
			close(met)
			<-gone
		}})
	}
	w := k.watch(t, "--concurrency=1", "--events=false", "--allow-empty", "--max-delete=0")
	eventually(t, func() []string {
		select {
		case <-met:
			killed = true
			return nil
		default:
			return append(k.wrong(t), k.busy()...)
		}
	})
	end := syscall.SIGTERM
	if killed {
		end = syscall.SIGKILL
	}
	k.proxy.SetRules()
	kill(t, w, end)
	<-w.done
	return killed
}

// writesMore reports whether a request writes anything but a Lease.
func writesMore(r faultproxy.Request) bool {
	return r.IsWrite() && r.Resource != "leases.coordination.k8s.io"
}

// busy returns a recent write, if there is one.
func (s *shop) busy() []string {
	for _, r := range s.proxy.Records() {
		if writesMore(r.Request) && time.Since(r.Began) < quietFor {
			return []string{fmt.Sprintf("%s %s %s is not long ago", r.Verb, r.Resource, r.Name)}
		}
	}
	return nil
}

// TestWatchMoves moves a row from one hub of a watch to the other and back. If the new hub
// gets the row first, it finds the objects owned by the old hub. If the old hub loses the
// row first, a guard holds the deletion until the new hub has the row.
func TestWatchMoves(t *testing.T) {
	t.Parallel()
	m := &moving{shop: newShop(t, "", 0, faultproxy.Options{})}
	hubs := []string{m.hub(), m.hub() + "-b"}
	rows := func(hub int, moving string) {
		t.Helper()
		m.hubFiles(t, hubs[hub], fmt.Sprintf("stays%d,,stays%d,1\n%s", hub, hub, moving))
	}
	const row = "acme,,acme,1\n"
	rows(0, row)
	rows(1, "")
	m.formFile(t, "a.yaml", hubs[0], "a", movedResources)
	m.formFile(t, "b.yaml", hubs[1], "b", movedResources)
	inventories := func(of string) []string {
		return []string{"lynqnode-acme-" + of, "lynqnode-stays0-a", "lynqnode-stays1-b"}
	}
	m.start(t, "apply", "-f", m.dir).want(t, 0)
	m.before, m.want = m.objects(t), inventories("a")
	w := m.watch(t, "--max-delete=0")
	for _, hub := range hubs {
		w.said(t, "/"+hub+": watching")
	}

	rows(1, row)
	w.said(t, `"outcome":"conflicted"`)
	rows(0, "")
	m.want = inventories("b")
	eventually(t, func() []string { return m.unmoved(t) })

	rows(1, "")
	w.said(t, "deletions are held (max-delete)")
	rows(0, row)
	m.want = inventories("a")
	eventually(t, func() []string { return m.unmoved(t) })

	kill(t, w, syscall.SIGTERM)
	w.want(t, 130)
	complain(t, m.unmoved(t))
	m.start(t, "apply", "-f", m.dir).want(t, 0, "12 objects: 12 unchanged")
}

// TestWatchSources wants a watch to read the rows of its other hubs from the addresses in
// --source before it deletes an object.
func TestWatchSources(t *testing.T) {
	t.Parallel()
	m := &moving{shop: newShop(t, "", 0, faultproxy.Options{})}
	hubs := []string{m.hub(), m.hub() + "-b"}
	flags := []string{"--max-delete=100%"}
	for i, hub := range hubs {
		m.write(t, hub+"-hub.yaml", strings.ReplaceAll(strings.ReplaceAll(movedHub, "NAME.csv", "missing.csv"), "NAME", hub))
		m.formFile(t, hub+".yaml", hub, []string{"a", "b"}[i], movedText)
		flags = append(flags, fmt.Sprintf("--source=%s=csv:%s", hub, filepath.Join(m.dir, hub+".csv")))
	}
	rows := func(hub int, text string) { t.Helper(); m.write(t, hubs[hub]+".csv", "id,was,slug,active\n"+text) }
	rows(0, "acme,,acme,1\nbolt,,bolt,1\n")
	rows(1, "cole,,cole,1\n")
	w := m.watch(t, flags...)
	has := func(want string) {
		t.Helper()
		eventually(t, func() []string {
			now := strings.Join(strings.Fields(m.Kubectl(t, "", "get", "configmaps", "-l", "lynq.sh/hub,!lynq.sh/record", "-o", "custom-columns=NAME:.metadata.name", "--no-headers")), " ")
			if now == want {
				return nil
			}
			return []string{fmt.Sprintf("the objects are %q, want %q", now, want)}
		})
	}
	has("acme-text bolt-text cole-text")
	rows(0, "acme,,acme,1\n")
	has("acme-text cole-text")
	kill(t, w, syscall.SIGTERM)
	w.want(t, 130)
}
