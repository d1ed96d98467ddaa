package lease_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
)

const (
	thisHost  = "0123456789abcdef"
	otherHost = "fedcba9876543210"
	thisPod   = "aaaabbbbccccdddd"
)

// liveProcess is the only other running process on this host in TestEnded.
func liveProcess() lease.Process { return lease.Process{Host: thisHost, PID: 7, Start: 700} }

// TestEnded checks which holders have certainly ended. These are only dead processes of
// this host, and earlier first processes of this container.
func TestEnded(t *testing.T) {
	live := liveProcess()
	runs := func(pid int, start uint64) bool { return pid == live.PID && start == live.Start }
	here := lease.Process{Host: thisHost, PID: 9, Start: 900}
	inPod := lease.Process{Host: thisHost, PID: 1, Start: 900, Container: thisPod}
	of := func(p lease.Process) string { return lease.Identity("ann@host pid 7 ab12cd", p) }
	for name, tt := range map[string]struct {
		holder string
		self   lease.Process
		want   bool
	}{
		"a live process":                          {of(live), here, false},
		"a process that ended":                    {of(lease.Process{Host: thisHost, PID: 8, Start: 800}), here, true},
		"its number has another process now":      {of(lease.Process{Host: thisHost, PID: 7, Start: 600}), here, true},
		"another host":                            {of(lease.Process{Host: otherHost, PID: 8, Start: 800}), here, false},
		"this host is not known":                  {of(lease.Process{Host: thisHost, PID: 8, Start: 800}), lease.Process{}, false},
		"no process is named":                     {of(lease.Process{}), here, false},
		"neither":                                 {of(lease.Process{}), lease.Process{}, false},
		"no one":                                  {"", here, false},
		"an older version":                        {"ann@host pid 8 ab12cd", here, false},
		"an earlier start of this container":      {of(lease.Process{Host: otherHost, PID: 1, Start: 800, Container: thisPod}), inPod, true},
		"a live process that names our container": {of(lease.Process{Host: thisHost, PID: 7, Start: 700, Container: thisPod}), inPod, false},
		"a container of another pod":              {of(lease.Process{Host: otherHost, PID: 1, Start: 800, Container: otherHost}), inPod, false},
		"no container, in a pod":                  {of(lease.Process{Host: otherHost, PID: 8, Start: 800}), inPod, false},
		"a container, for another process of it":  {of(lease.Process{Host: otherHost, PID: 1, Start: 800, Container: thisPod}), here, false},
		"no process":                              {"ann [" + thisHost + ":0:800]", here, false},
		"a group of processes":                    {"ann [" + thisHost + ":-8:800]", here, false},
		"a number of no process":                  {"ann [" + thisHost + ":4294967295:800]", here, false},
		"a start of no process":                   {"ann [" + thisHost + ":8:99999999999999999999]", here, false},
		"something behind it":                     {of(lease.Process{Host: thisHost, PID: 8, Start: 800}) + " ", here, false},
		"another process in the name of a live":   {"ann [" + thisHost + ":8:800] [" + thisHost + ":7:700]", here, false},
		"a host of no length":                     {"ann [:8:800]", lease.Process{PID: 9}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lease.Ended(tt.holder, tt.self, runs); got != tt.want {
				t.Errorf("%q has ended: %t", tt.holder, got)
			}
		})
	}
}

// ended makes a lock know that a holder has ended.
func ended(holder string) func(*lease.Options) {
	return func(o *lease.Options) { o.Ended = func(h string) bool { return h == holder } }
}

// TestTakenBack checks that the Lease of a dead process is taken at once, and that the run
// reads again. The run waits for a process that may live.
func TestTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		acquire(t, lockOf(s, "dead"), 0)
		next := lockOf(s, "next", ended("dead"))
		if err := next.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		acquire(t, next, 0)
		if !next.Changed() {
			t.Error("the run that ended may have written since the look")
		}
		next.Hold(t.Context())
		pass(time.Minute)
		var held *lease.HeldError
		if err := lockOf(s, "third", ended("dead")).Acquire(t.Context(), time.Second); !errors.As(err, &held) || held.Holder != "next" {
			t.Errorf("got %v", err)
		}
		release(t, next)
	})
}

// outage returns a server that a watch, "first", no longer reaches. The watch has lost its
// Lease, and couldn't release it.
func outage(t *testing.T) (*server, *lease.Lock) {
	t.Helper()
	s := newServer()
	first, ctx := watching(t, s, "first")
	s.setFault(cutOff)
	<-ctx.Done()
	_ = first.Release(t.Context()) // it doesn't reach the server
	return s, first
}

// TestTakenBackAfterOutage checks that a process that couldn't renew its Lease takes it back
// at once, under another identity and as a new term. The earlier lock stays lost. If
// another run took the Lease meanwhile, the process waits.
func TestTakenBackAfterOutage(t *testing.T) {
	for name, other := range map[string]bool{"nobody took it": false, "another run took it": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, first := outage(t)
				pass(time.Minute)
				s.setFault(nil)
				if other {
					acquire(t, lockOf(s, "other", forGood, ended("first")), 0)
				}
				before := s.now()
				s.took()
				next := lockOf(s, "next", forGood, ended("first"))
				err := next.Acquire(t.Context(), 0)
				var held *lease.HeldError
				if other {
					if !errors.As(err, &held) || held.Holder != "other" {
						t.Errorf("got %v", err)
					}
					return
				}
				if err != nil {
					t.Fatalf("%v", err)
				}
				now := s.now()
				if got := *now.Spec.HolderIdentity; got != "next" || *now.Spec.LeaseTransitions != *before.Spec.LeaseTransitions+1 || !now.Spec.AcquireTime.After(before.Spec.AcquireTime.Time) {
					t.Errorf("it is no new term: %+v", now.Spec)
				}
				if first.Check() == nil || next.Check() != nil {
					t.Errorf("the first lock: %v, the next one: %v", first.Check(), next.Check())
				}
			})
		})
	}
}

// TestGivenBackAfterOutage checks that a watch which lost its Lease leaves it to the run
// that waits, and that this run doesn't wait until the Lease expires.
func TestGivenBackAfterOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := outage(t)
		s.setFault(nil)
		run := lockOf(s, "run")
		runs := acquired(t, run, time.Minute)
		pass(time.Second)
		healed := time.Now()
		var told *lease.HeldError
		again := acquired(t, lockOf(s, "again", forGood, ended("first"), func(o *lease.Options) { o.Waiting = func(e *lease.HeldError) { told = e } }), lease.Forever)
		<-runs
		if waited := time.Since(healed); waited > 5*time.Second {
			t.Errorf("the run waited %s", waited)
		}
		if told == nil || told.Holder != "run" || told.Continuous || !told.Reserved {
			t.Errorf("told %+v", told)
		}
		release(t, run)
		<-again
	})
}

// TestTakenBackWhileWaiting checks that a standby takes the Lease at its next look.
func TestTakenBackWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		continuous := func(o *lease.Options) { o.Continuous = true }
		acquire(t, lockOf(s, "dead", continuous), 0)
		over := s.start.Add(4 * time.Second)
		acquire(t, lockOf(s, "next", continuous, func(o *lease.Options) {
			o.Ended = func(string) bool { return !time.Now().Before(over) }
		}), lease.Forever)
		if took := time.Since(s.start); took != 6*time.Second {
			t.Errorf("taken after %s", took)
		}
	})
}

// TestTakenBackByTurns checks that a waiting run comes before a restarted watch.
func TestTakenBackByTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		continuous := func(o *lease.Options) { o.Continuous = true }
		acquire(t, lockOf(s, "dead", continuous), 0)
		s.edit(func(l *coordinationv1.Lease) { l.Annotations["lynq.sh/waiting"] = "by hand" })
		acquire(t, lockOf(s, "next", continuous, ended("dead")), lease.Forever)
		if took := time.Since(s.start); took != 13*time.Second { // the watch gives the Lease back, and looks again after 3 seconds
			t.Errorf("taken after %s", took)
		}
	})
}

// TestNamedForPeople checks that messages have a holder's name without its process.
func TestNamedForPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		acquire(t, lockOf(s, lease.Identity("ann@host pid 7 ab12cd", liveProcess())), 0)
		var held *lease.HeldError
		if err := lockOf(s, "b").Acquire(t.Context(), 0); !errors.As(err, &held) || held.Holder != "ann@host pid 7 ab12cd" {
			t.Errorf("got %v", err)
		}
	})
}

// TestForgedHolder checks that a holder's name can't start a new line in a message.
func TestForgedHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		acquire(t, lockOf(s, "x\nerror: all is well"), 0)
		var held *lease.HeldError
		if err := lockOf(s, "b").Acquire(t.Context(), 0); !errors.As(err, &held) || held.Holder != "x; error: all is well" {
			t.Errorf("got %v", err)
		}
	})
}
