package lease_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// forGood makes a lock continuous.
func forGood(o *lease.Options) { o.Continuous = true }

// watching returns a lock that holds the Lease continuously from now on.
func watching(t *testing.T, s *server, me string) (*lease.Lock, context.Context) {
	t.Helper()
	l := lockOf(s, me, forGood)
	acquire(t, l, lease.Forever)
	s.took()
	return l, l.Hold(t.Context())
}

func giveBack(t *testing.T, l *lease.Lock) {
	t.Helper()
	if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// waitingFor returns the waiting run of a Lease.
func waitingFor(s *server) string { return s.now().Annotations[wellknown.AnnotationWaiting] }

// acquired returns a channel that closes after Acquire.
func acquired(t *testing.T, l *lease.Lock, wait time.Duration) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := l.Acquire(t.Context(), wait); err != nil {
			t.Error(err)
		}
	}()
	return done
}

// TestContinuousCosts checks the cost of a tenth of a request per second, and a third for
// a standby.
func TestContinuousCosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a, ctx := watching(t, s, "a")
		pass(32 * time.Second)
		sameLog(t, "a holder", s, "10s update", "20s update", "30s update")
		next := acquired(t, lockOf(s, "b", forGood), lease.Forever)
		pass(10 * time.Second)
		sameLog(t, "a holder and who stands by", s, "32s get", "35s get", "38s get", "40s update", "41s get")
		select {
		case <-a.Wanted():
			t.Error("who stands by has the holder yield")
		default:
		}
		if ctx.Err() != nil || waitingFor(s) != "" {
			t.Errorf("%v, %q", context.Cause(ctx), waitingFor(s))
		}
		giveBack(t, a)
		<-next
		if got := time.Since(s.start); got > 44*time.Second {
			t.Errorf("taken over after %s", got)
		}
	})
}

// TestYield checks that a run gets the Lease from a continuous holder, which takes it back
// afterwards.
func TestYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		watch, ctx := watching(t, s, "watch")
		standby := lockOf(s, "standby", forGood)
		stands := acquired(t, standby, lease.Forever)
		pass(2 * time.Second)
		var told *lease.HeldError
		run := lockOf(s, "run", func(o *lease.Options) { o.Waiting = func(e *lease.HeldError) { told = e } })
		runs := acquired(t, run, time.Minute)
		<-watch.Wanted()
		if at := time.Since(s.start); at != 10*time.Second || ctx.Err() != nil || watch.Check() != nil || waitingFor(s) != "run" {
			t.Errorf("wanted after %s: %v, %v, %q waits", at, context.Cause(ctx), watch.Check(), waitingFor(s))
		}
		if told == nil || !told.Continuous || told.Holder != "watch" {
			t.Errorf("told %+v", told)
		}
		pass(25 * time.Second) // the round ends, and the holder renews meanwhile
		watch.Returns()
		giveBack(t, watch)
		again := acquired(t, watch, lease.Forever)
		<-runs
		if at := time.Since(s.start); at > 37*time.Second || waitingFor(s) != "" || s.now().Annotations[wellknown.AnnotationHolder] != "" {
			t.Errorf("the run has it after %s: %v", at, s.now().Annotations)
		}
		if got := run.Yielded(); got != "watch" {
			t.Errorf("%q yielded", got)
		}
		run.Hold(t.Context())
		pass(time.Minute)
		giveBack(t, run)
		if l := s.now(); lease.YieldedBy(l) != "watch" {
			t.Errorf("nobody comes back: %v", l.Annotations)
		}
		select {
		case <-again:
		case <-stands:
		}
		if at := time.Since(s.start); at > 101*time.Second || s.now().Annotations[wellknown.AnnotationHolder] != wellknown.HolderContinuous {
			t.Errorf("again after %s: %v", at, s.now().Annotations)
		}
		if l := s.now(); lease.YieldedBy(l) != "" {
			t.Errorf("somebody came back: %v", l.Annotations)
		}
		s.remove() // ends the other run's wait
		<-again
		<-stands
	})
}

// TestYieldedForGood checks that a continuous holder that ends while another run has the
// Lease doesn't count as one that comes back. A standby that ends changes nothing, and so does
// a request that failed.
func TestYieldedForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		watch, _ := watching(t, s, "watch")
		watch.Returns()
		giveBack(t, watch)
		run := lockOf(s, "run")
		acquire(t, run, 0)
		run.Hold(t.Context())
		end := func(l *lease.Lock) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if err := l.Acquire(ctx, lease.Forever); err == nil {
				t.Fatal("it has the Lease")
			}
		}
		end(lockOf(s, "standby", forGood, ended("other")))
		if got := run.Yielded(); got != "watch" {
			t.Errorf("%q comes back", got)
		}
		failed := false
		s.setFault(func(_ context.Context, verb string) (bool, error) {
			if failed || verb != "get" { // the run renews meanwhile
				return false, nil
			}
			failed = true
			return false, errors.New("no answer")
		})
		if err := lockOf(s, "watch again", forGood, ended("watch")).Acquire(t.Context(), lease.Forever); err == nil {
			t.Fatal("it has the Lease")
		}
		if got := lease.YieldedBy(s.now()); got != "watch" { // it tries again
			t.Errorf("%q comes back", got)
		}
		end(lockOf(s, "watch again", forGood, ended("watch")))
		if l := s.now(); lease.YieldedBy(l) != "" {
			t.Errorf("%v", l.Annotations)
		}
		giveBack(t, run)
	})
}

// TestYieldedByDead checks that a continuous holder that died doesn't count as one that
// yielded.
func TestYieldedByDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		acquire(t, lockOf(s, "watch", forGood), lease.Forever) // it renews nothing
		run := lockOf(s, "run")
		acquire(t, run, time.Minute)
		if got := run.Yielded(); got != "" {
			t.Errorf("%q yielded", got)
		}
	})
}

// TestYieldToAll checks that all waiting runs get the Lease before it is held continuously
// again.
func TestYieldToAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		watch, _ := watching(t, s, "watch")
		turns := make(chan string, 4)
		for _, me := range []string{"first", "second"} {
			l := lockOf(s, me)
			done := acquired(t, l, 5*time.Minute)
			pass(100 * time.Millisecond)
			go func() {
				<-done
				turns <- me
				l.Hold(t.Context())
				pass(4 * time.Second)
				giveBack(t, l)
			}()
		}
		if waitingFor(s) != "first" {
			t.Errorf("%q waits", waitingFor(s))
		}
		<-watch.Wanted()
		giveBack(t, watch)
		acquire(t, watch, lease.Forever)
		if len(turns) != 2 {
			t.Errorf("%d runs had their turn before it was held continuously again", len(turns))
		}
	})
}

// TestWaitingRunDied checks that a dead waiting run delays a continuous instance once, for
// a third of the duration.
func TestWaitingRunDied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		watch, _ := watching(t, s, "watch")
		s.edit(func(l *coordinationv1.Lease) { l.Annotations[wellknown.AnnotationWaiting] = "run" })
		<-watch.Wanted()
		giveBack(t, watch)
		if waitingFor(s) != "run" {
			t.Errorf("%q waits", waitingFor(s))
		}
		released := time.Now()
		acquire(t, watch, lease.Forever)
		if got := time.Since(released); got != 10*time.Second {
			t.Errorf("held again after %s", got)
		}
		watch.Hold(t.Context())
		if waitingFor(s) != "" {
			t.Errorf("%q waits", waitingFor(s))
		}
		pass(time.Minute)
		select {
		case <-watch.Wanted():
			t.Error("wanted by a run that died")
		default:
		}
		giveBack(t, watch)
	})
}

// TestWaitingNoMore checks that a run withdraws when its time is up or when it is
// interrupted.
func TestWaitingNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		watch, _ := watching(t, s, "watch")
		var held *lease.HeldError
		err := lockOf(s, "run").Acquire(t.Context(), 4*time.Second)
		if !errors.As(err, &held) || !held.Continuous || waitingFor(s) != "" {
			t.Errorf("%v: %q waits", err, waitingFor(s))
		}
		want := `hub "customers" is locked by lynqctl watch, watch, since 2000-01-01T00:00:00Z; waited 4s (lynqctl watch yields to waiting runs between its rounds: wait longer with --lock-timeout; if that run died, Lease shop/lynqctl-customers expires after you waited 30s)`
		if err.Error() != want {
			t.Errorf("got  %s\nwant %s", err, want)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := lockOf(s, "run").Acquire(ctx, time.Minute); !errors.Is(err, context.DeadlineExceeded) || waitingFor(s) != "" {
			t.Errorf("%v: %q waits", err, waitingFor(s))
		}
		s.took()
		if err := lockOf(s, "run").Acquire(t.Context(), 0); !errors.As(err, &held) {
			t.Errorf("got %v", err)
		}
		sameLog(t, "a run that does not wait", s, "5s get")
		giveBack(t, watch)
	})
}

// TestStandbyOfDeadHolder checks that a standby takes over after the Lease was unchanged
// for its duration. A new waiting run is no sign of life of the holder.
func TestStandbyOfDeadHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		killed, _ := watching(t, s, "killed")
		pass(15 * time.Second)
		s.setFault(cutOff) // fail its renewals
		_ = killed.Release(t.Context())
		s.setFault(nil)
		standby := acquired(t, lockOf(s, "standby", forGood), lease.Forever)
		pass(20 * time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = lockOf(s, "run").Acquire(ctx, time.Hour) }()
		pass(5 * time.Second)
		cancel() // the run withdraws
		<-standby
		if at := time.Since(s.start); at != 45*time.Second {
			t.Errorf("taken over after %s", at)
		}
	})
}

// TestAskingFails checks that a run without write permission fails at once. After a
// temporary error, it asks again.
func TestAskingFails(t *testing.T) {
	for code, reason := range map[int32]metav1.StatusReason{
		http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusConflict: metav1.StatusReasonConflict,
		http.StatusServiceUnavailable: metav1.StatusReasonServiceUnavailable,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			watch, _ := watching(t, s, "watch")
			times := 2
			s.setFault(func(_ context.Context, verb string) (bool, error) {
				if verb != "update" || times == 0 {
					return false, nil
				}
				times--
				return false, &apierrors.StatusError{ErrStatus: metav1.Status{Code: code, Reason: reason}}
			})
			err := lockOf(s, "run").Acquire(t.Context(), 5*time.Second)
			var held *lease.HeldError
			if waits := errors.As(err, &held); waits != (code != http.StatusForbidden) || waits != (time.Since(s.start) == 5*time.Second) {
				t.Errorf("%d: after %s: %v", code, time.Since(s.start), err)
			}
			s.setFault(nil)
			giveBack(t, watch)
		})
	}
}

// TestLookedAtAndReserved checks that a run doesn't take a Lease that is reserved for
// another.
func TestLookedAtAndReserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		released := continuous("", "run")
		released.Namespace, released.Name = "shop", "lynqctl-customers"
		s.keep(released)
		watch := lockOf(s, "watch", forGood)
		if err := watch.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		acquire(t, watch, lease.Forever)
		if got := time.Since(s.start); got != 5*time.Second || !watch.Changed() {
			t.Errorf("taken after %s; changed: %t", got, watch.Changed())
		}
	})
}
