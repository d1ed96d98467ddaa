package lease_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/harness"
)

const leaseName = "lease/lynqctl-customers"

// These annotations of the Lease name the holder and the waiting run.
const (
	saysHolder  = `.metadata.annotations.lynq\.sh/holder`
	saysWaiting = `.metadata.annotations.lynq\.sh/waiting`
)

// keeps holds the Lease like watch until the test ends. It yields if another run waits,
// and then takes the Lease again.
func (a *api) keeps(t *testing.T, me string, d time.Duration) (ended func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done, first := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for turn := 0; ; turn++ {
			l := a.lock(me, lasting(d), forGood)
			if err := l.Acquire(ctx, lease.Forever); err != nil {
				if ctx.Err() == nil {
					t.Error(err)
				}
				return
			}
			if turn == 0 {
				close(first)
			}
			held := l.Hold(ctx)
			select {
			case <-l.Wanted():
			case <-held.Done():
			}
			if err := l.Release(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}()
	select {
	case <-first:
	case <-done:
	}
	return func() {
		cancel()
		<-done
	}
}

// TestRunByHand checks on a real server that one or two runs get the Lease from a
// continuous holder.
func TestRunByHand(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	end := a.keeps(t, "watch", 15*time.Second)
	a.Equal(t, leaseName, saysHolder, "continuous")
	turns := make(chan string, 2)
	for _, me := range []string{"ann", "ben"} {
		go func() {
			l := a.lock(me)
			if err := l.Acquire(t.Context(), 5*time.Minute); err != nil {
				t.Error(err)
			}
			ctx := l.Hold(t.Context())
			lease, err := a.Client.Leases().Get(t.Context(), a.Namespace, "lynqctl-customers")
			if err != nil || *lease.Spec.HolderIdentity != me || lease.Annotations[wellknown.AnnotationHolder] != "" {
				t.Errorf("%s has it, and it says %+v (%v)", me, lease, err)
			}
			if err := l.Release(t.Context()); err != nil || ctx.Err() == nil {
				t.Error(err)
			}
			turns <- me
		}()
	}
	if first, second := <-turns, <-turns; first == second {
		t.Errorf("%s twice", first)
	}
	a.Wait(t, leaseName, harness.PathEquals(".spec.holderIdentity", "watch"))
	a.Equal(t, leaseName, saysWaiting, "")
	end()
	a.Equal(t, leaseName, ".spec.holderIdentity", "")
	a.Equal(t, leaseName, saysHolder, "")
}

// TestStandby checks that a standby takes over after the holder ended or was killed.
func TestStandby(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	end := a.keeps(t, "first", 15*time.Second)
	second := make(chan func(), 1)
	go func() { second <- a.keeps(t, "second", 15*time.Second) }()
	a.Equal(t, leaseName, ".spec.holderIdentity", "first")
	end()
	a.Wait(t, leaseName, harness.PathEquals(".spec.holderIdentity", "second"))
	(<-second)()
	killed := a.lock("killed", lasting(15*time.Second), forGood)
	acquire(t, killed, 0) // it holds the Lease and never renews it
	end = a.keeps(t, "third", 15*time.Second)
	a.Equal(t, leaseName, ".spec.holderIdentity", "third")
	end()
}

// TestRunDiedWaiting checks that a killed waiting run delays a continuous instance only
// for a while.
func TestRunDiedWaiting(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	end := a.keeps(t, "watch", 15*time.Second)
	a.Equal(t, leaseName, ".spec.leaseTransitions", "0")
	a.Kubectl(t, "", "annotate", leaseName, "lynq.sh/waiting=killed")
	a.Wait(t, leaseName, harness.PathEquals(".spec.leaseTransitions", "1")) // the holder yielded and took it again
	a.Equal(t, leaseName, ".spec.holderIdentity", "watch")
	a.Equal(t, leaseName, saysWaiting, "")
	end()
}

// TestDeletedBesideAStandby checks on a real server that a Lease that somebody deletes never
// lets two instances hold it.
func TestDeletedBesideAStandby(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	first := a.lock("first", lasting(15*time.Second), forGood)
	acquire(t, first, 0)
	first.Hold(t.Context())
	waiting, waits := make(chan struct{}), make(chan error, 1)
	second := a.lock("second", lasting(15*time.Second), forGood, func(o *lease.Options) {
		once := sync.OnceFunc(func() { close(waiting) })
		o.Waiting = func(*lease.HeldError) { once() }
	})
	go func() { waits <- second.Acquire(t.Context(), 5*time.Minute) }()
	<-waiting
	a.Kubectl(t, "", "delete", leaseName)
	if err := <-waits; err != nil {
		t.Fatal(err)
	}
	if first.Check() == nil {
		t.Error("two instances have the Lease")
	}
	release(t, second)
}
