package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

const (
	// restarts and standbys are how often a watch is killed.
	restarts, standbys = 5, 3
	// soonAgain is how long it may take until the hub is kept again, on a machine that is
	// busy. The Lease lasts for longer by far.
	soonAgain = 15 * time.Second
)

// A watch that was killed has its Lease back as soon as it starts again on the same host,
// and takes back what was edited meanwhile.
func TestWatchStartsAgain(t *testing.T) {
	t.Parallel()
	s := newShop(t, shopInputs, 1, faultproxy.Options{})
	w := s.watch(t)
	w.said(t, `"msg":"round"`)
	s.restored(t, "t000", editedSettings())
	var held, repaired []time.Duration
	for range restarts {
		kill(t, w, syscall.SIGKILL)
		<-w.done
		began := time.Now()
		w = s.watch(t)
		w.said(t, ": watching")
		held = append(held, time.Since(began))
		if strings.Contains(w.stderr.String(), "standing by") {
			t.Errorf("it stood by:\n%s", w.stderr.String())
		}
		s.takenBack(t, w)
		repaired = append(repaired, time.Since(began))
	}
	s.soon(t, "a restart until it holds the Lease", held)
	s.soon(t, "a restart until an edit is taken back", repaired)
	kill(t, w, syscall.SIGTERM)
	w.want(t, 130)
	s.settled(t)
}

// A watch that stands by on the same host takes over when it sees that the one that works
// has ended.
func TestWatchStandsInSoon(t *testing.T) {
	t.Parallel()
	s := newShop(t, shopInputs, 1, faultproxy.Options{})
	first := s.watch(t)
	first.said(t, `"msg":"round"`)
	var took []time.Duration
	for range standbys {
		second := s.watch(t)
		second.said(t, "standing by")
		kill(t, first, syscall.SIGKILL)
		began := time.Now()
		second.said(t, ": watching")
		took = append(took, time.Since(began))
		s.takenBack(t, second)
		first = second
	}
	s.soon(t, "a kill until the other one holds the Lease", took)
	kill(t, first, syscall.SIGTERM)
	first.want(t, 130)
	s.settled(t)
}

// A Lease that names a process of this host that runs is never taken early, whoever wrote
// it, and neither is one that names another host. Both processes here are gone for the one
// that reads: the first is stopped, the second never was.
func TestLeaseOfLiveProcess(t *testing.T) {
	t.Parallel()
	s := newShop(t, shopInputs, 1, faultproxy.Options{})
	w := s.watch(t)
	w.said(t, ": watching")
	kill(t, w, syscall.SIGSTOP)
	s.apply(t, "--lock-timeout=5s").want(t, 3, "is locked by lynqctl watch", pid(w))
	holder := s.Kubectl(t, "", "get", "lease", s.leaseName(), "-o", "jsonpath={.spec.holderIdentity}")
	name, process, named := strings.Cut(strings.TrimSuffix(holder, "]"), " [")
	parts := strings.Split(process, ":")
	if !named || len(parts) != 3 {
		t.Fatalf("the holder %q names no process", holder)
	}
	kill(t, w, syscall.SIGKILL)
	<-w.done
	elsewhere := fmt.Sprintf("%s [%s:%s:%s]", name, strings.Repeat("f", len(parts[0])), parts[1], parts[2])
	s.Kubectl(t, "", "patch", "lease", s.leaseName(), "--type=merge", "-p", fmt.Sprintf(`{"spec":{"holderIdentity":%q}}`, elsewhere))
	s.apply(t, "--lock-timeout=5s").want(t, 3, "is locked by lynqctl watch", name)
	s.Kubectl(t, "", "patch", "lease", s.leaseName(), "--type=merge", "-p", fmt.Sprintf(`{"spec":{"holderIdentity":%q}}`, holder))
	s.apply(t, "--lock-timeout=5s").want(t, 0)
	s.settled(t)
}

// takenBack edits an object, and waits until the watch has restored it and recorded that.
func (s *shop) takenBack(t *testing.T, w *running) {
	t.Helper()
	const round = `"msg":"round"`
	before := strings.Count(w.stderr.String(), round)
	s.restored(t, "t000", editedSettings())
	w.saysAgain(t, round, before)
}

// editedSettings is an edit of an object by another client.
func editedSettings() handRemoval {
	return handRemoval{shopKinds()[2], "-settings", "kubectl-patch", `[{"op":"replace","path":"/data/plan","value":"edited"}]`}
}

// soon logs how long something took, and fails the test where that is too long.
func (*shop) soon(t *testing.T, what string, took []time.Duration) {
	t.Helper()
	slices.Sort(took)
	last := took[len(took)-1]
	t.Logf("%s: %s (median of %d), %s (at most)", what, took[len(took)/2], len(took), last)
	if last > soonAgain {
		t.Errorf("%s took %s, want at most %s", what, last, soonAgain)
	}
}
