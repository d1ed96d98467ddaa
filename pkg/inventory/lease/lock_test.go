package lease_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// server keeps one Lease like an API server, and logs requests. It is for tests of time.
// They run in a bubble, where no real server can run. lock_cluster_test.go tests a real
// server.
type server struct {
	mu    sync.Mutex
	start time.Time
	lease *coordinationv1.Lease
	next  int
	log   []string
	// fault, if not nil, returns an error instead of an answer. after means that the
	// request succeeds anyway.
	fault func(ctx context.Context, verb string) (after bool, err error)
}

func newServer() *server { return &server{start: time.Now()} }

var leases = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

// do executes one request.
func (s *server) do(ctx context.Context, verb string, f func() error) (*coordinationv1.Lease, error) {
	s.mu.Lock()
	s.log = append(s.log, fmt.Sprintf("%s %s", time.Since(s.start), verb))
	fault := s.fault
	s.mu.Unlock()
	if fault != nil {
		if after, err := fault(ctx, verb); err != nil {
			if after {
				s.mu.Lock()
				defer s.mu.Unlock()
				_ = f() // only its effect counts
			}
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := f(); err != nil {
		return nil, err
	}
	return s.lease.DeepCopy(), nil
}

func (s *server) keep(l *coordinationv1.Lease) {
	s.next++
	s.lease = l.DeepCopy()
	s.lease.ResourceVersion = fmt.Sprint(s.next)
}

func (s *server) Get(ctx context.Context, _, name string) (*coordinationv1.Lease, error) {
	return s.do(ctx, "get", func() error {
		if s.lease == nil {
			return apierrors.NewNotFound(leases, name)
		}
		return nil
	})
}

func (s *server) Create(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	return s.do(ctx, "create", func() error {
		if s.lease != nil {
			return apierrors.NewAlreadyExists(leases, l.Name)
		}
		s.keep(l)
		return nil
	})
}

func (s *server) Update(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	return s.do(ctx, "update", func() error {
		switch {
		case s.lease == nil:
			return apierrors.NewNotFound(leases, l.Name)
		case s.lease.ResourceVersion != l.ResourceVersion:
			return apierrors.NewConflict(leases, l.Name, errors.New("the object has been modified"))
		}
		s.keep(l)
		return nil
	})
}

func (s *server) Delete(ctx context.Context, _, name string, uid types.UID, resourceVersion string) error {
	_, err := s.do(ctx, "delete", func() error {
		switch {
		case s.lease == nil:
			return apierrors.NewNotFound(leases, name)
		case s.lease.UID != uid || s.lease.ResourceVersion != resourceVersion:
			return apierrors.NewConflict(leases, name, errors.New("the precondition failed"))
		}
		s.lease = nil
		return nil
	})
	return err
}

// edit changes the Lease as another client.
func (s *server) edit(f func(*coordinationv1.Lease)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lease.DeepCopy()
	f(l)
	s.keep(l)
}

// remove deletes the Lease.
func (s *server) remove() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lease = nil
}

// now returns the current Lease.
func (s *server) now() *coordinationv1.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lease.DeepCopy()
}

func (s *server) setFault(f func(ctx context.Context, verb string) (bool, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// took returns the log, and clears it.
func (s *server) took() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := s.log
	s.log = nil
	return log
}

func lockOf(l lease.Leases, me string, change ...func(*lease.Options)) *lease.Lock {
	o := lease.Options{Hub: lynq.HubKey{Namespace: "shop", Name: "customers"}, Identity: me}
	for _, c := range change {
		c(&o)
	}
	return lease.NewLock(l, o)
}

func acquire(t *testing.T, l *lease.Lock, wait time.Duration) {
	t.Helper()
	if err := l.Acquire(t.Context(), wait); err != nil {
		t.Fatal(err)
	}
}

// pass lets time pass in a bubble.
func pass(d time.Duration) { <-time.After(d) }

func sameLog(t *testing.T, what string, s *server, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, s.took()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestLockCosts counts the requests of a run without problems.
func TestLockCosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a := lockOf(s, "a")
		acquire(t, a, 0)
		sameLog(t, "first", s, "0s get", "0s create")
		ctx := a.Hold(t.Context())
		pass(16 * time.Second)
		if ctx.Err() != nil {
			t.Error(context.Cause(ctx))
		}
		if err := a.Release(t.Context()); err != nil {
			t.Error(err)
		}
		sameLog(t, "held and released", s, "5s update", "10s update", "15s update", "16s update")
		if ctx.Err() == nil {
			t.Error("released, and the context goes on")
		}
		acquire(t, lockOf(s, "b"), 0)
		sameLog(t, "second", s, "16s get", "16s update")
		want := int32(1)
		if diff := cmp.Diff(&want, s.now().Spec.LeaseTransitions); diff != "" {
			t.Errorf("transitions (-want +got):\n%s", diff)
		}
	})
}

func TestHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		acquire(t, lockOf(s, "ann@host pid 7"), 0)
		s.took()
		err := lockOf(s, "b", func(o *lease.Options) {
			o.Waiting = func(e *lease.HeldError) { t.Errorf("waits: %v", e) }
		}).Acquire(t.Context(), 0)
		var held *lease.HeldError
		if !errors.As(err, &held) || held.Holder != "ann@host pid 7" || held.Valid != 15*time.Second || !held.Since.Equal(s.start) {
			t.Fatalf("got %#v", err)
		}
		want := `hub "customers" is locked by another run, ann@host pid 7, since 2000-01-01T00:00:00Z; waited 0s (wait longer with --lock-timeout; if that run died, Lease shop/lynqctl-customers expires after you waited 15s)`
		if err.Error() != want {
			t.Errorf("got  %s\nwant %s", err, want)
		}
		sameLog(t, "held", s, "0s get")
		s.edit(func(l *coordinationv1.Lease) { l.Spec.AcquireTime, l.Spec.RenewTime = nil, nil })
		if err := lockOf(s, "b").Acquire(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "since an unknown time") {
			t.Errorf("got %v", err)
		}
	})
}

// TestWait checks that a run waits as long as the flag says, and reports it once.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a := lockOf(s, "a")
		acquire(t, a, 0)
		a.Hold(t.Context())
		told := 0
		b := lockOf(s, "b", func(o *lease.Options) { o.Waiting = func(*lease.HeldError) { told++ } })
		var held *lease.HeldError
		if err := b.Acquire(t.Context(), time.Minute); !errors.As(err, &held) || held.Waited != time.Minute || time.Since(s.start) != time.Minute {
			t.Errorf("after %s: %v", time.Since(s.start), err)
		}
		if told != 1 {
			t.Errorf("told %d times", told)
		}
		// The waiting run notices the release within a tenth of the duration.
		released := make(chan struct{})
		go func() {
			defer close(released)
			pass(10 * time.Second)
			if err := a.Release(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		acquire(t, b, time.Minute)
		<-released
		if waited := time.Since(s.start) - time.Minute; waited < 10*time.Second || waited > 11500*time.Millisecond {
			t.Errorf("waited %s", waited)
		}
		cause := errors.New("interrupted")
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			pass(time.Second)
			cancel(cause)
		}()
		if err := a.Acquire(ctx, time.Minute); !errors.Is(err, cause) {
			t.Errorf("got %v", err)
		}
	})
}

// TestDeadHolder checks that a dead run's Lease becomes free after it was unchanged for
// its duration. Wrong clocks don't matter.
func TestDeadHolder(t *testing.T) {
	for _, skew := range []time.Duration{0, 50 * time.Second, 24 * time.Hour, -time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			acquire(t, lockOf(s, "a"), 0)
			pass(3 * time.Second)
			b := lockOf(s, "b", func(o *lease.Options) { o.Now = func() time.Time { return time.Now().Add(skew) } })
			acquire(t, b, time.Minute)
			if got := time.Since(s.start); got != 18*time.Second {
				t.Errorf("skew %s: free after %s, want 18s", skew, got)
			}
		})
	}
}

// TestForgedDuration has another client set a duration of one second. No run takes the
// Lease, and the next renewal restores the duration.
func TestForgedDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a := lockOf(s, "a")
		acquire(t, a, 0)
		ctx := a.Hold(t.Context())
		one := int32(1)
		s.edit(func(l *coordinationv1.Lease) { l.Spec.LeaseDurationSeconds = &one })
		var held *lease.HeldError
		if err := lockOf(s, "b").Acquire(t.Context(), time.Minute); !errors.As(err, &held) || ctx.Err() != nil {
			t.Errorf("got %v, %v", err, ctx.Err())
		}
		if got := *s.now().Spec.LeaseDurationSeconds; got != 15 {
			t.Errorf("the Lease says %d s", got)
		}
		if err := a.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestWaitTellsOfADeadHolder checks that a waiting run learns when the Lease ends, and
// once that the holder stopped renewing. It never says this about a living holder.
func TestWaitTellsOfADeadHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a := lockOf(s, "a")
		acquire(t, a, 0)
		a.Hold(t.Context())
		var told []string
		b := lockOf(s, "b", func(o *lease.Options) {
			o.Waiting = func(e *lease.HeldError) {
				told = append(told, time.Since(s.start).String()+" "+e.Holder+": "+e.Ends())
			}
		})
		done := acquired(t, b, 5*time.Minute)
		pass(37 * time.Second) // chosen so that no renewal (every 5 s) and no look (every 1.5 s) coincide
		s.setFault(cutOff)     // fail its renewals; the last one was at 35 s
		_ = a.Release(t.Context())
		s.setFault(nil)
		<-done
		want := []string{
			"0s a: its Lease ends at 2000-01-01T00:00:15Z unless the holder renews it",
			"46.5s a: the holder stopped renewing its Lease at 2000-01-01T00:00:35Z, and the Lease ends at 2000-01-01T00:00:51Z",
		}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		if got := time.Since(s.start); got != 51*time.Second { // the run saw the last renewal at 36 s
			t.Errorf("free after %s", got)
		}
	})
}

// TestRenewalsOfASkewedClock checks that a renewed Lease is never free, although its
// holder's clock is slow.
func TestRenewalsOfASkewedClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a := lockOf(s, "a", func(o *lease.Options) { o.Now = func() time.Time { return time.Now().Add(-40 * time.Second) } })
		acquire(t, a, 0)
		ctx := a.Hold(t.Context())
		var held *lease.HeldError
		if err := lockOf(s, "b").Acquire(t.Context(), 10*time.Minute); !errors.As(err, &held) || ctx.Err() != nil {
			t.Errorf("got %v, %v", err, ctx.Err())
		}
		if err := a.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// hold returns a lock that holds the Lease since the bubble began.
func hold(ctx context.Context, t *testing.T, s *server) (*lease.Lock, context.Context) {
	t.Helper()
	a := lockOf(s, "a")
	acquire(t, a, 0)
	s.took()
	return a, a.Hold(ctx)
}

// cutOff fails requests without an answer.
func cutOff(_ context.Context, _ string) (bool, error) { return false, errors.New("connection reset") }

// TestLostInTime checks that a run gives up before others can take the Lease.
func TestLostInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a, ctx := hold(t.Context(), t, s)
		s.setFault(cutOff)
		<-ctx.Done()
		var lost *lease.LostError
		if !errors.As(context.Cause(ctx), &lost) || time.Since(s.start) != 12*time.Second {
			t.Errorf("after %s: %v", time.Since(s.start), context.Cause(ctx))
		}
		want := `lost Lease shop/lynqctl-customers, which keeps other runs off hub "customers": it could not be renewed in time: connection reset; lynqctl writes nothing more (run again)`
		if got := context.Cause(ctx).Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		sameLog(t, "tried", s, "5s update", "6s update", "7s update", "8s update", "9s update", "10s update", "11s update")
		if err := a.Release(t.Context()); err == nil || !strings.Contains(err.Error(), "release Lease shop/lynqctl-customers") {
			t.Errorf("release without a server: %v", err)
		}
	})
}

// TestCheck checks that a suspended process learns of its lost lock before any request.
// The loss is permanent.
func TestCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		var stopped atomic.Int64 // in nanoseconds, by the clock when the process continues
		a := lockOf(s, "a", func(o *lease.Options) {
			o.Now = func() time.Time { return time.Now().Add(time.Duration(stopped.Load())) }
		})
		if err := a.Check(); err == nil || !strings.Contains(err.Error(), "it is not held") {
			t.Errorf("before it is taken: %v", err)
		}
		acquire(t, a, 0)
		ctx := a.Hold(t.Context())
		stopped.Store(int64(11 * time.Second))
		if err := a.Check(); err != nil {
			t.Errorf("stopped for %s: %v", time.Duration(stopped.Load()), err)
		}
		s.took()
		stopped.Store(int64(12 * time.Second))
		var lost *lease.LostError
		if err := a.Check(); !errors.As(err, &lost) || !strings.Contains(err.Error(), "this process was stopped for too long") {
			t.Errorf("stopped for %s: %v", time.Duration(stopped.Load()), err)
		}
		if ctx.Err() == nil || !errors.As(context.Cause(ctx), &lost) {
			t.Errorf("what is done under the lock goes on: %v", context.Cause(ctx))
		}
		sameLog(t, "asking the clock", s)
		pass(time.Minute)
		stopped.Store(0)
		if err := a.Check(); !errors.As(err, &lost) {
			t.Errorf("lost, and held again: %v", err)
		}
		if err := a.Release(t.Context()); err != nil {
			t.Error(err)
		}
		acquire(t, a, 0)
		if err := a.Check(); err != nil {
			t.Errorf("taken again: %v", err)
		}
	})
}

// TestLookedAt checks that a free, unchanged Lease is taken without another read, and that
// nobody held it since. In all other cases, somebody may have.
func TestLookedAt(t *testing.T) {
	run := func(t *testing.T, s *server, me string) {
		t.Helper()
		l := lockOf(s, me)
		acquire(t, l, 0)
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		before, between func(*testing.T, *server)
		unseen          bool
		changed         bool
		log             []string
	}{
		"none":                     {log: []string{"get", "create"}},
		"free":                     {before: func(t *testing.T, s *server) { run(t, s, "x") }, log: []string{"get", "update"}},
		"not looked at":            {unseen: true, changed: true, log: []string{"get", "create"}},
		"the first run, meanwhile": {between: func(t *testing.T, s *server) { run(t, s, "x") }, changed: true, log: []string{"get", "create", "get", "update"}},
		"another run, meanwhile": {
			before:  func(t *testing.T, s *server) { run(t, s, "x") },
			between: func(t *testing.T, s *server) { run(t, s, "y") }, changed: true, log: []string{"get", "update", "get", "update"},
		},
		"deleted meanwhile": {
			before:  func(t *testing.T, s *server) { run(t, s, "x") },
			between: func(_ *testing.T, s *server) { s.remove() }, changed: true, log: []string{"get", "update", "get", "create"},
		},
		"held, and given back": {
			before: func(t *testing.T, s *server) { acquire(t, lockOf(s, "x"), 0) },
			between: func(_ *testing.T, s *server) {
				s.edit(func(l *coordinationv1.Lease) { l.Spec.HolderIdentity, l.Spec.RenewTime = nil, nil })
			}, changed: true, log: []string{"get", "get", "update"},
		},
		"its own answer is lost": {
			between: func(_ *testing.T, s *server) {
				first := true
				s.fault = func(context.Context, string) (bool, error) {
					lost := first
					first = false
					if lost {
						return true, errors.New("EOF")
					}
					return false, nil
				}
			}, changed: true, log: []string{"get", "create", "get"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				if tt.before != nil {
					tt.before(t, s)
				}
				s.took()
				l := lockOf(s, "me")
				if !tt.unseen {
					if err := l.Look(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				log := s.took()
				if tt.between != nil {
					tt.between(t, s)
					s.took()
				}
				acquire(t, l, 0)
				log = append(log, s.took()...)
				for i, line := range log {
					_, log[i], _ = strings.Cut(line, " ")
				}
				if diff := cmp.Diff(tt.log, log); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if l.Changed() != tt.changed {
					t.Errorf("changed: %t, want %t", l.Changed(), tt.changed)
				}
			})
		})
	}
}

// TestHungServer checks that a missing answer isn't a renewal.
func TestHungServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		_, ctx := hold(t.Context(), t, s)
		s.setFault(func(ctx context.Context, _ string) (bool, error) {
			<-ctx.Done()
			return false, ctx.Err()
		})
		<-ctx.Done()
		if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) || time.Since(s.start) != 12*time.Second {
			t.Errorf("after %s: %v", time.Since(s.start), cause)
		}
	})
}

// TestRenewalsRecover checks that a run survives a short outage, and that renewals with
// lost answers count.
func TestRenewalsRecover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a, ctx := hold(t.Context(), t, s)
		s.setFault(cutOff)
		pass(8500 * time.Millisecond)
		s.setFault(nil)
		pass(time.Second)
		s.took()
		// The next renewal, at 14 s, succeeds, but its answer is lost.
		lostAnswers := 1
		s.setFault(func(_ context.Context, verb string) (bool, error) {
			if verb != "update" || lostAnswers == 0 {
				return false, nil
			}
			lostAnswers--
			return true, apierrors.NewConflict(leases, "", errors.New("found by the second try"))
		})
		pass(6 * time.Second)
		sameLog(t, "renewal with its answer lost", s, "14s update", "14s get")
		// A user labels the Lease.
		s.edit(func(l *coordinationv1.Lease) { l.Labels["note"] = "x" })
		pass(5 * time.Second)
		sameLog(t, "renewal of a Lease that was edited", s, "19s update", "19s get", "19s update")
		if ctx.Err() != nil || s.now().Labels["note"] != "x" {
			t.Errorf("%v, %v", context.Cause(ctx), s.now().Labels)
		}
		s.edit(func(l *coordinationv1.Lease) { l.Labels["note"] = "y" })
		if err := a.Release(t.Context()); err != nil || s.now().Spec.HolderIdentity != nil || s.now().Labels["note"] != "y" {
			t.Errorf("%v: %v", err, s.now())
		}
	})
}

// TestTaken checks that the next renewal ends the run if another one took the Lease, and
// doesn't change the Lease.
func TestTaken(t *testing.T) {
	other := "b"
	for want, change := range map[string]func(*server){
		"it is no longer ours (b)": func(s *server) { s.edit(func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = &other }) },
		"it is no longer ours;":    func(s *server) { s.edit(func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = nil }) },
		"it was deleted":           (*server).remove,
	} {
		t.Run(want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				a, ctx := hold(t.Context(), t, s)
				change(s)
				<-ctx.Done()
				if cause := context.Cause(ctx); !strings.Contains(cause.Error(), want) || time.Since(s.start) != 5*time.Second {
					t.Errorf("after %s: %v\nwant %s", time.Since(s.start), cause, want)
				}
				before := s.now()
				if err := a.Release(t.Context()); err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(before, s.now()); diff != "" {
					t.Errorf("release changed it:\n%s", diff)
				}
			})
		})
	}
}

// TestHolderRemoved removes the holder's name. Another run takes the Lease only after the
// holder has stopped.
func TestHolderRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a, ctx := hold(t.Context(), t, s)
		s.edit(func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = nil })
		b := lockOf(s, "b")
		acquire(t, b, lease.Forever)
		if ctx.Err() == nil || a.Check() == nil {
			t.Errorf("two runs have the Lease after %s", time.Since(s.start))
		}
		if got := time.Since(s.start); got < lease.DefaultLeaseDuration {
			t.Errorf("taken after %s", got)
		}
	})
}

// TestHoldOutlivesItsContext checks that a run finishes its work under the lock after an
// interruption.
func TestHoldOutlivesItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		parent, cancel := context.WithCancel(t.Context())
		a, ctx := hold(parent, t, s)
		cancel()
		<-ctx.Done()
		pass(time.Minute)
		if err := lockOf(s, "b").Acquire(t.Context(), 0); err == nil {
			t.Error("it was free")
		}
		if err := a.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestReleaseWaits checks that the release waits for a pending renewal, or gives up.
func TestReleaseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a, _ := hold(t.Context(), t, s)
		s.setFault(func(context.Context, string) (bool, error) {
			pass(2 * time.Second)
			return false, nil
		})
		pass(6 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if err := a.Release(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		// The renewal ends, and nobody released the Lease. A run with the same identity
		// gets it at once.
		pass(time.Minute)
		b := lockOf(s, "a")
		acquire(t, b, 0)
		b.Hold(t.Context())
		pass(4 * time.Second)
		if err := b.Release(t.Context()); err != nil || s.now().Spec.HolderIdentity != nil {
			t.Errorf("%v: %v", err, s.now())
		}
		if err := b.Release(t.Context()); err != nil {
			t.Errorf("released twice: %v", err)
		}
	})
}

// TestHoldWithoutAcquire checks that such a lock is lost at once.
func TestHoldWithoutAcquire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := lockOf(newServer(), "a")
		ctx := a.Hold(t.Context())
		<-ctx.Done()
		if cause := context.Cause(ctx); !strings.Contains(cause.Error(), "it is not held") {
			t.Error(cause)
		}
		if err := a.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestAcquireWithTrouble checks which errors end Acquire.
func TestAcquireWithTrouble(t *testing.T) {
	status := func(code int) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Code: int32(code), Message: http.StatusText(code)}}
	}
	for name, tt := range map[string]struct {
		held  bool // a Lease without a holder exists
		verb  string
		err   error
		after bool
		times int
		want  string // part of the error
		log   []string
	}{
		"no read":              {verb: "get", err: status(403), times: 1, want: "read Lease shop/lynqctl-customers, which keeps other runs off hub \"customers\": Forbidden", log: []string{"0s get"}},
		"no right":             {verb: "create", err: status(403), times: 1, want: "take Lease shop/lynqctl-customers, which keeps other runs off hub \"customers\": Forbidden", log: []string{"0s get", "0s create"}},
		"no namespace":         {verb: "create", err: status(404), times: 1, want: "Not Found", log: []string{"0s get", "0s create"}},
		"deleted meanwhile":    {held: true, verb: "update", err: status(404), times: 1, log: []string{"0s get", "0s update", "0s get", "0s update"}},
		"answer lost":          {verb: "create", err: errors.New("EOF"), after: true, times: 1, log: []string{"0s get", "0s create", "0s get"}},
		"answer lost, refound": {verb: "create", err: status(409), after: true, times: 1, log: []string{"0s get", "0s create", "0s get"}},
		"update's answer lost": {held: true, verb: "update", err: status(504), after: true, times: 1, log: []string{"0s get", "0s update", "0s get"}},
		"failed once":          {verb: "create", err: status(500), times: 1, log: []string{"0s get", "0s create", "0s get", "0s create"}},
		"fails always":         {verb: "create", err: errors.New("EOF"), times: 99, want: "EOF", log: []string{"0s get", "0s create", "0s get", "0s create", "0s get", "0s create", "0s get", "0s create", "0s get", "0s create"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				if tt.held {
					s.keep(leaseOf("", time.Now()))
				}
				s.fault = func(_ context.Context, verb string) (bool, error) {
					if verb != tt.verb || tt.times == 0 {
						return false, nil
					}
					tt.times--
					return tt.after, tt.err
				}
				a := lockOf(s, "a")
				err := a.Acquire(t.Context(), 0)
				if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
					t.Errorf("got %v", err)
				}
				sameLog(t, name, s, tt.log...)
				if err != nil {
					return
				}
				ctx := a.Hold(t.Context())
				pass(time.Minute)
				if ctx.Err() != nil {
					t.Errorf("%v", context.Cause(ctx))
				}
				if err := a.Release(t.Context()); err != nil {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

// TestLosingTheRace lets another client be faster in each attempt. That is no error before
// the lock timeout, whatever the number of attempts.
func TestLosingTheRace(t *testing.T) {
	for name, tt := range map[string]struct {
		held  bool // a Lease without a holder exists
		races int
		wait  time.Duration
		lost  bool
	}{
		"a few, without waiting":        {held: true, races: 4},
		"many":                          {held: true, races: 60, wait: time.Minute},
		"many who create it":            {races: 60, wait: time.Minute},
		"more than the timeout permits": {held: true, races: 1 << 20, wait: 3 * time.Second, lost: true},
		"without waiting":               {held: true, races: 1 << 20, lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				if tt.held {
					s.keep(leaseOf("", time.Now()))
				}
				s.fault = func(_ context.Context, verb string) (bool, error) {
					if verb == "get" || tt.races == 0 {
						return false, nil
					}
					tt.races--
					if verb == "create" {
						return false, apierrors.NewAlreadyExists(leases, "")
					}
					return false, apierrors.NewConflict(leases, "", errors.New("modified"))
				}
				began := time.Now()
				a := lockOf(s, "a")
				err := a.Acquire(t.Context(), tt.wait)
				var contended *lease.ContendedError
				switch {
				case tt.lost && !errors.As(err, &contended):
					t.Errorf("got %v", err)
				case tt.lost && time.Since(began) < tt.wait:
					t.Errorf("gave up after %s", time.Since(began))
				case !tt.lost && err != nil:
					t.Errorf("%v", err)
				case !tt.lost && *s.now().Spec.HolderIdentity != "a":
					t.Errorf("%s has it", *s.now().Spec.HolderIdentity)
				}
			})
		})
	}
}

// TestEnteringLateWins lets other clients change the hub's Lease while a shard enters.
func TestEnteringLateWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a := lockOf(s, "a")
		acquire(t, a, 0)
		races := 20
		s.fault = func(_ context.Context, verb string) (bool, error) {
			if verb == "update" && races > 0 {
				races--
				return false, apierrors.NewConflict(leases, "", errors.New("modified"))
			}
			return false, nil
		}
		want := []lease.Entered{{Index: 1, Count: 4, Holder: "a"}}
		if err := a.Enter(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		b := lockOf(s, "b")
		acquire(t, b, 0)
		entered, err := b.Entered()
		if diff := cmp.Diff(want, entered); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}

// TestReleaseGivesUp limits the retries if others keep changing the Lease.
func TestReleaseGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		a := lockOf(s, "a")
		acquire(t, a, 0)
		s.fault = func(_ context.Context, verb string) (bool, error) {
			if verb == "update" {
				return false, apierrors.NewConflict(leases, "", errors.New("modified"))
			}
			return false, nil
		}
		if err := a.Release(t.Context()); err == nil || !strings.Contains(err.Error(), "others keep changing it") {
			t.Errorf("got %v", err)
		}
	})
}

// TestDiscard checks that a deleted hub's Lease is deleted, even if another client changed
// it. A Lease that another run holds remains.
func TestDiscard(t *testing.T) {
	for what, tt := range map[string]struct {
		change func(*coordinationv1.Lease)
		stays  bool
	}{
		"as it was":  {change: func(*coordinationv1.Lease) {}},
		"labelled":   {change: func(l *coordinationv1.Lease) { l.Labels = map[string]string{"team": "red"} }},
		"taken over": {change: func(l *coordinationv1.Lease) { holder := "somebody"; l.Spec.HolderIdentity = &holder }, stays: true},
	} {
		t.Run(what, func(t *testing.T) {
			s := newServer()
			l := lockOf(s, "me")
			if err := l.Acquire(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			s.edit(tt.change)
			l.Discard()
			if err := l.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			if stays := s.lease != nil; stays != tt.stays {
				t.Errorf("the Lease exists: %v, want %v", stays, tt.stays)
			}
			if err := lockOf(s, "next").Acquire(t.Context(), 0); (err == nil) == tt.stays {
				t.Errorf("the next one: %v", err)
			}
		})
	}
}

// TestDeleted checks that a run never takes a Lease that somebody deleted while its holder
// may still write. A Lease that its run deleted with the hub is free at once.
func TestDeleted(t *testing.T) {
	gone := func(o *lease.Options) { o.Discarded = func(context.Context) bool { return true } }
	for what, tt := range map[string]struct {
		holder, waiter []func(*lease.Options)
		looks          bool // Look sees the Lease, and Acquire doesn't
		ended          bool // the waiter knows that the holder has ended
		dead           bool // the holder renews no more
		change         func(*coordinationv1.Lease)
		free           time.Duration
	}{
		"a run, while another waits":               {free: lease.DefaultLeaseDuration},
		"a watch, beside a standby":                {holder: []func(*lease.Options){forGood}, waiter: []func(*lease.Options){forGood}, free: lease.ContinuousLeaseDuration},
		"before the waiting run looked twice":      {looks: true, free: lease.DefaultLeaseDuration},
		"of a dead run":                            {dead: true, free: lease.DefaultLeaseDuration},
		"of a run that ended on this host":         {ended: true, dead: true},
		"with the hub":                             {waiter: []func(*lease.Options){gone}, dead: true},
		"after somebody wrote a longer duration":   {dead: true, change: func(l *coordinationv1.Lease) { l.Spec.LeaseDurationSeconds = new(int32(3600)) }, free: lease.ContinuousLeaseDuration},
		"after somebody removed the holder's name": {change: func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = nil }, free: lease.DefaultLeaseDuration},
		"after its run gave it back":               {dead: true, change: func(l *coordinationv1.Lease) { l.Spec.HolderIdentity, l.Spec.RenewTime = nil, nil }},
		"that names the waiting run as its holder": {dead: true, change: func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = new("waiter") }},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				holder := lockOf(s, "holder", tt.holder...)
				acquire(t, holder, 0)
				if !tt.dead {
					holder.Hold(t.Context())
				}
				if tt.change != nil {
					s.edit(tt.change)
				}
				waiter := lockOf(s, "waiter", append(tt.waiter, func(o *lease.Options) { o.Ended = func(h string) bool { return tt.ended && h == "holder" } })...)
				if err := waiter.Look(t.Context()); err != nil {
					t.Fatal(err)
				}
				var took time.Time
				waits := make(chan error, 1)
				begin := func() {
					go func() {
						err := waiter.Acquire(t.Context(), time.Hour)
						took = time.Now()
						waits <- err
					}()
				}
				if !tt.looks && tt.free > 0 { // otherwise Acquire takes it before somebody deletes it
					begin()
					synctest.Wait()
				}
				deleted := time.Now()
				s.remove()
				if tt.looks || tt.free == 0 {
					begin()
				}
				if err := <-waits; err != nil {
					t.Fatal(err)
				}
				if holder.Check() == nil && !tt.dead {
					t.Error("two runs have the hub")
				}
				if got := took.Sub(deleted); got < tt.free || got > tt.free+2*time.Second {
					t.Errorf("taken after %s, want %s", got, tt.free)
				}
				_ = holder.Release(t.Context())
			})
		})
	}
}

// TestUnreleased checks that a run knows whether others may still find its Lease.
func TestUnreleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		l := lockOf(s, "a", forGood)
		acquire(t, l, 0)
		s.setFault(cutOff)
		_ = l.Release(t.Context())
		unreleased := (*lease.UnreleasedError)(nil)
		if err := l.Unreleased(); !errors.As(err, &unreleased) || unreleased.Valid != lease.ContinuousLeaseDuration ||
			err.Error() != `couldn't give Lease shop/lynqctl-customers back: connection reset. The next run on hub "customers" may wait 30s for it` {
			t.Errorf("got %v", err)
		}
		s.edit(func(l *coordinationv1.Lease) { l.Spec.HolderIdentity, l.Spec.RenewTime = nil, nil })
		ctx, cancel := context.WithCancel(t.Context())
		s.setFault(func(_ context.Context, verb string) (bool, error) {
			if s.now().Spec.HolderIdentity == nil && verb == "get" {
				return false, nil
			}
			cancel() // no answer arrives after the write
			return true, errors.New("EOF")
		})
		if err := l.Acquire(ctx, 0); err == nil || !errors.As(l.Unreleased(), &unreleased) {
			t.Fatalf("acquired without an answer: %v, %v", err, l.Unreleased())
		}
		s.setFault(nil)
		acquire(t, l, time.Minute)
		if err := l.Release(t.Context()); err != nil || l.Unreleased() != nil {
			t.Errorf("released, and %v", l.Unreleased())
		}
	})
}
