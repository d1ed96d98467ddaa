package e2e_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

const (
	// restarts and standbys count the kills of a watch.
	restarts, standbys = 5, 3
)

// TestWatchStartsAgain wants a killed watch to get its Lease back at once when it starts
// again on the same host. It must restore what was edited meanwhile.
func TestWatchStartsAgain(t *testing.T) {
	t.Parallel()
	s := newShop(t, shopInputs, 1, faultproxy.Options{})
	w := s.watch(t)
	w.said(t, `"msg":"round"`)
	s.restored(t, "t000", editedSettings())
	for range restarts {
		kill(t, w, syscall.SIGKILL)
		<-w.done
		w = s.watch(t)
		w.said(t, ": watching")
		if strings.Contains(w.stderr.String(), "standing by") {
			t.Errorf("it stood by:\n%s", w.stderr.String())
		}
		s.takenBack(t, w)
	}
	kill(t, w, syscall.SIGTERM)
	w.want(t, 130)
	s.settled(t)
}

// TestWatchAfterOutage makes the API server unreachable until a watch has lost its Lease. When
// the server answers again, the watch must take its Lease back at its next look, as a new
// term, and restore what was edited meanwhile.
func TestWatchAfterOutage(t *testing.T) {
	t.Parallel()
	s := newShop(t, shopInputs, 1, faultproxy.Options{})
	w := s.watch(t)
	w.said(t, `"msg":"round"`)
	const jsonpath = "jsonpath={.spec.holderIdentity} {.spec.leaseTransitions}"
	before := s.Kubectl(t, "", "get", "lease", s.leaseName(), "-o", jsonpath)
	s.proxy.SetRules(faultproxy.Rule{End: faultproxy.CutBefore})
	w.said(t, "lost Lease")
	w.said(t, "trying again in")
	s.proxy.SetRules()
	healed := time.Now()
	w.saysAgain(t, ": watching", 1)
	if strings.Contains(w.stderr.String(), "standing by") {
		t.Errorf("it stood by:\n%s", w.stderr.String())
	}
	if looks := s.looksAtLease(healed); looks > soonTakes {
		t.Errorf("it looked at the Lease %d times until it took it, want at most %d times", looks, soonTakes)
	}
	if now := s.Kubectl(t, "", "get", "lease", s.leaseName(), "-o", jsonpath); now == before {
		t.Errorf("the Lease still has the lost term: %s", now)
	}
	s.takenBack(t, w)
	kill(t, w, syscall.SIGTERM)
	w.want(t, 130)
	s.settled(t)
}

// TestWatchStandsInSoon wants a waiting watch on the same host to take over when it sees
// that the active one has ended.
func TestWatchStandsInSoon(t *testing.T) {
	t.Parallel()
	s := newShop(t, shopInputs, 1, faultproxy.Options{})
	first := s.watch(t)
	first.said(t, `"msg":"round"`)
	for range standbys {
		second := s.watch(t)
		second.said(t, "standing by")
		kill(t, first, syscall.SIGKILL)
		<-first.done
		killed := time.Now()
		second.said(t, ": watching")
		if looks := s.looksAtLease(killed); looks > soonTakes {
			t.Errorf("it looked at the Lease %d times until it took it, want at most %d times", looks, soonTakes)
		}
		s.takenBack(t, second)
		first = second
	}
	kill(t, first, syscall.SIGTERM)
	first.want(t, 130)
	s.settled(t)
}

// TestLeaseOfLiveProcess wants nobody to take a Lease early that names a running process of
// this host, whoever wrote it. The same holds for a Lease that names another host. One
// process is stopped, and the other never existed.
func TestLeaseOfLiveProcess(t *testing.T) {
	t.Parallel()
	s := newShop(t, shopInputs, 1, faultproxy.Options{})
	w := s.watch(t)
	w.said(t, ": watching")
	kill(t, w, syscall.SIGSTOP)
	s.apply(t, "--lock-timeout=0s").want(t, 3, "is locked by lynqctl watch", pid(w))
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
	s.apply(t, "--lock-timeout=0s").want(t, 3, "is locked by lynqctl watch", name)
	s.Kubectl(t, "", "patch", "lease", s.leaseName(), "--type=merge", "-p", fmt.Sprintf(`{"spec":{"holderIdentity":%q}}`, holder))
	s.apply(t, "--lock-timeout=0s").want(t, 0)
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

// looksAtLease counts the reads of the Lease since a time, until somebody takes it.
func (s *shop) looksAtLease(since time.Time) int {
	looks := 0
	for _, r := range s.proxy.Records() {
		switch {
		case r.Resource != "leases.coordination.k8s.io" || r.Began.Before(since):
		case r.IsWrite():
			return looks
		default:
			looks++
		}
	}
	return looks
}
