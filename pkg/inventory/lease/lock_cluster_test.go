package lease_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// lock returns a lock on the hub of a test.
func (a *api) lock(me string, change ...func(*lease.Options)) *lease.Lock {
	return lockOf(a.Client.Leases(), me, append(change, func(o *lease.Options) { o.Hub.Namespace = a.Namespace })...)
}

func release(t *testing.T, l *lease.Lock) {
	t.Helper()
	if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// lasting sets the duration.
func lasting(d time.Duration) func(*lease.Options) {
	return func(o *lease.Options) { o.Duration = d }
}

// TestLockOnServer counts requests on a real server.
func TestLockOnServer(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for i, want := range [][]string{{"get", "create", "update"}, {"get", "update", "update"}} {
		l := a.lock("ann@host "+fmt.Sprint(i), lasting(time.Hour)) // so long that no renewal counts
		acquire(t, l, 0)
		ctx := l.Hold(t.Context())
		a.Equal(t, "lease/lynqctl-customers", ".spec.holderIdentity", "ann@host "+fmt.Sprint(i))
		var held *lease.HeldError
		if i == 0 {
			a.Requests()
			if err := a.lock("b").Acquire(t.Context(), 0); !errors.As(err, &held) || held.Holder != "ann@host 0" {
				t.Errorf("got %v", err)
			}
			a.SameRequests(t, "a lock that is held", "get")
			want = want[2:]
		}
		release(t, l)
		a.SameRequests(t, fmt.Sprint("lock ", i), want...)
		if ctx.Err() == nil {
			t.Error("released, and the context goes on")
		}
		a.Equal(t, "lease/lynqctl-customers", ".spec.holderIdentity", "")
		a.Equal(t, "lease/lynqctl-customers", ".spec.leaseTransitions", fmt.Sprint(i))
	}
}

// TestConcurrentRuns checks that runs take turns, one at a time.
func TestConcurrentRuns(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	var runs sync.WaitGroup
	var inside, done atomic.Int32
	for i := range 6 {
		runs.Go(func() {
			l := a.lock(fmt.Sprint("run ", i), lasting(30*time.Second))
			if err := l.Acquire(t.Context(), 5*time.Minute); err != nil {
				t.Error(err)
				return
			}
			ctx := l.Hold(t.Context())
			if n := inside.Add(1); n != 1 {
				t.Errorf("%d runs at a time", n)
			}
			// This takes a while.
			if err := a.Client.ConfigMaps().List(ctx, a.Namespace, "", func(*corev1.ConfigMap) func() { return nil }); err != nil {
				t.Error(err)
			}
			inside.Add(-1)
			done.Add(1)
			release(t, l)
		})
	}
	runs.Wait()
	if done.Load() != 6 {
		t.Errorf("%d runs came to their turn", done.Load())
	}
	a.Equal(t, "lease/lynqctl-customers", ".spec.leaseTransitions", "5")
}

// TestKilledHolder checks that the lock of a killed run becomes free.
func TestKilledHolder(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acquire(t, a.lock("killed", lasting(time.Second)), 0)
	var waited []string
	l := a.lock("next", lasting(time.Second), func(o *lease.Options) {
		o.Waiting = func(e *lease.HeldError) { waited = append(waited, e.Holder) }
	})
	acquire(t, l, 5*time.Minute)
	if !slices.Equal(slices.Compact(waited), []string{"killed"}) { // the second message says that the holder stopped renewing
		t.Errorf("waited for %v", waited)
	}
	a.Equal(t, "lease/lynqctl-customers", ".spec.holderIdentity", "next")
	release(t, l)
}

// TestHolderRenews checks that a living run keeps its lock longer than one duration.
func TestHolderRenews(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	l := a.lock("a", lasting(15*time.Second))
	acquire(t, l, 0)
	ctx := l.Hold(t.Context())
	var held *lease.HeldError
	if err := a.lock("b", lasting(15*time.Second)).Acquire(t.Context(), 18*time.Second); !errors.As(err, &held) {
		t.Errorf("got %v", err)
	}
	if ctx.Err() != nil {
		t.Error(context.Cause(ctx))
	}
	release(t, l)
}

// TestLockAnswersLost loses the answer of each write of a lock.
func TestLockAnswersLost(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	lose := func(verb string) {
		a.Requests()
		a.Proxy.SetRules(faultproxy.Rule{Verb: verb, Resource: "leases.coordination.k8s.io", End: faultproxy.CutAfter, Times: 1})
	}
	l := a.lock("a")
	lose("create")
	acquire(t, l, 0)
	a.SameRequests(t, "a first lock", "get", "create", "create", "get")
	lose("update")
	release(t, l)
	a.SameRequests(t, "a release", "update", "update", "get")
	lose("update")
	acquire(t, l, 0)
	a.SameRequests(t, "a second lock", "get", "update", "update", "get")
	a.Proxy.SetRules()
	l.Hold(t.Context())
	release(t, l)
	a.Equal(t, "lease/lynqctl-customers", ".spec.holderIdentity", "")
}

// TestLockTaken checks that a run stops after a user deleted its Lease.
func TestLockTaken(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	l := a.lock("a", lasting(15*time.Second))
	acquire(t, l, 0)
	ctx := l.Hold(t.Context())
	a.Kubectl(t, "", "delete", "lease/lynqctl-customers")
	<-ctx.Done()
	var lost *lease.LostError
	if !errors.As(context.Cause(ctx), &lost) || !strings.Contains(lost.Error(), "it was deleted") {
		t.Errorf("got %v", context.Cause(ctx))
	}
	release(t, l)
	a.Absent(t, "lease/lynqctl-customers")
}

// TestLockOfEndingNamespace checks that the cleanup of a namespace in deletion keeps its
// lock. The namespace loses its Leases and accepts no new one, so no other run can get the
// lock.
func TestLockOfEndingNamespace(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.Kubectl(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: held, finalizers: [test.lynq.sh/held]}\n", "create", "-f", "-")
	l := a.lock("a", lasting(15*time.Second))
	acquire(t, l, 0)
	ctx := l.Hold(t.Context())
	a.Kubectl(t, "", "delete", "namespace", a.Namespace, "--wait=false")
	a.Kubectl(t, "", "wait", "lease/lynqctl-customers", "--for=delete", "--timeout=180s")
	var held *lease.HeldError
	if err := a.lock("b").Acquire(t.Context(), 0); !lease.EndingNamespace(err) || errors.As(err, &held) {
		t.Errorf("another run got %v", err)
	}
	select {
	case <-ctx.Done():
		t.Error(context.Cause(ctx))
	case <-time.After(18 * time.Second): // longer than the Lease was valid
	}
	if err := l.Check(); err != nil {
		t.Error(err)
	}
	a.Kubectl(t, "", "patch", "configmap", "held", "--type=json", "-p", `[{"op":"remove","path":"/metadata/finalizers"}]`)
	release(t, l)
}
