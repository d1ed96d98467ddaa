package lease

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Leases reads and writes Leases for a Lock, under the same terms as ConfigMaps. Its
// methods return soon after their context ends.
type Leases interface {
	Get(ctx context.Context, namespace, name string) (*coordinationv1.Lease, error)
	Create(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error)
	// Update replaces one that has the given uid and resource version; any
	// other is a conflict.
	Update(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error)
	// Delete deletes one that has this uid and resource version; any other is a
	// conflict.
	Delete(ctx context.Context, namespace, name string, uid types.UID, resourceVersion string) error
}

// Options say which hub is locked, and by whom.
type Options struct {
	Hub lynq.HubKey
	// Shard is that of the run; the zero Shard locks the whole hub.
	Shard lynq.Shard
	// Identity names the run to people, and no other run: user, host, process
	// and something random; see the function Identity.
	Identity string
	// Continuous: the Lease is wanted for good, and yielded to runs by hand: who holds
	// it gives it back soon after Wanted says so.
	Continuous bool
	// Duration is how long the Lease is valid after each renewal, in whole
	// seconds; 0 is DefaultLeaseDuration, or ContinuousLeaseDuration.
	Duration time.Duration
	// Now is the clock; nil is the system's.
	Now func() time.Time
	// Ended, where it is not nil, tells whether a holder has certainly ended.
	Ended func(holder string) bool
	// Waiting, where it is not nil, is told when Acquire begins to wait, and once for
	// each holder that stops renewing the Lease.
	Waiting func(*HeldError)
}

// Lock keeps other runs off a hub: Look before what it guards is read, Acquire,
// Hold, Check before each write, Release. One goroutine uses it, but for Check.
type Lock struct {
	leases Leases
	Options

	lease *coordinationv1.Lease // as we wrote it last, nil while it is not ours
	quit  chan struct{}         // ends the renewals
	ended chan struct{}         // they have ended
	// discarded: the Lease goes when it is released.
	discarded bool
	// noted is the Lease as Look saw it, nil for none, where looked is true.
	noted  *coordinationv1.Lease
	looked bool
	// changed: another run may have had the Lease since.
	changed bool
	// asked: the Lease may name us as who waits for it.
	asked  bool
	wanted *wanted
	term   term
	// entered are the runs of shards that the Lease is to name once it is released, nil for
	// those that it names.
	entered *[]Entered
	// joined: the Lease of the hub has to name us, the run of a shard.
	joined atomic.Bool
}

// name is the name of the Lease.
func (l *Lock) name() string { return l.Shard.LeaseName(l.Hub.Name) }

// NewLock makes a Lock. Nothing is requested yet.
func NewLock(l Leases, o Options) *Lock {
	switch {
	case o.Duration != 0:
	case o.Continuous:
		o.Duration = ContinuousLeaseDuration
	default:
		o.Duration = DefaultLeaseDuration
	}
	// Others reckon with whole seconds, so we must not with fewer.
	o.Duration = max(o.Duration.Truncate(time.Second), time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Lock{leases: l, Options: o, wanted: newWanted()}
}

func (l *Lock) claimant() Claimant {
	return Claimant{Identity: l.Identity, Continuous: l.Continuous, Least: min(l.Duration, DefaultLeaseDuration)}
}

// Look takes note of the Lease as it is. What is read from then on is as new as
// the lock, where Acquire finds the Lease unchanged.
func (l *Lock) Look(ctx context.Context) error {
	lease, err := l.get(ctx)
	if err != nil {
		return l.failed("read", err)
	}
	l.noted, l.looked = lease, true
	return nil
}

// Changed tells whether another run may have had the hub between Look and
// Acquire: what was read in that time may be older than what that run wrote.
func (l *Lock) Changed() bool { return l.changed }

// takeNoted takes the Lease as Look saw it, where it was free. That succeeds only
// if it has not changed since, and needs no further look.
func (l *Lock) takeNoted(ctx context.Context) (taken, again bool, err error) {
	noted, looked := l.noted, l.looked
	l.noted, l.looked, l.changed = nil, false, true
	if now := l.Now(); !looked || Decide(noted, Seen{Since: now, Waiting: now}, now, l.claimant()).State != Free {
		return false, true, nil
	}
	if again, err = l.take(ctx, noted, Free, false); err == nil {
		l.changed = false
	}
	return err == nil, again, err
}

// takes is how often Acquire tries to take a Lease that looks free.
const takes = 5

// Forever is to wait for a Lease until it is ours.
const Forever = time.Duration(math.MaxInt64)

// Acquire takes the Lease. While another run holds it, it waits for so long; 0
// is not to wait. A continuous holder learns that we wait. The error is a
// *HeldError, the context's cause, or the server's.
func (l *Lock) Acquire(ctx context.Context, wait time.Duration) error {
	l.lease, l.asked, l.wanted = nil, false, newWanted()
	l.term.begin(time.Time{})
	if taken, again, err := l.takeNoted(ctx); taken {
		return nil
	} else if !again || err != nil && ctx.Err() != nil {
		return l.gaveUp(ctx, "take", err)
	}
	err := l.await(ctx, wait)
	if err != nil && l.asked {
		l.withdraw(ctx)
	}
	return err
}

// await takes the Lease as soon as it is free.
func (l *Lock) await(ctx context.Context, wait time.Duration) error {
	began := l.Now()
	var seen seenLease
	var told telling
	for tried := 0; ; {
		lease, err := l.get(ctx)
		if err != nil {
			return l.gaveUp(ctx, "read", err)
		}
		now := l.Now()
		s := seen.look(lease, now)
		s.Ended = l.hasEnded(lease)
		d := Decide(lease, s, now, l.claimant())
		if d.State == Free || d.State == Ours {
			tried++
			if again, err := l.take(ctx, lease, d.State, lease != nil && l.claimant().outdated(lease, seen.Seen, now)); err == nil {
				return nil
			} else if !again || tried == takes || ctx.Err() != nil {
				return l.gaveUp(ctx, "take", err)
			}
			continue
		}
		tried = 0 // another run was faster, and will release it
		held := l.held(lease, d, now.Sub(began))
		left := wait - held.Waited
		if left <= 0 {
			return held
		}
		if l.Waiting != nil && told.news(held) {
			l.Waiting(held)
		}
		if err := l.ask(ctx, lease, d); err != nil {
			return l.gaveUp(ctx, "ask for", err)
		}
		// A Lease that is released is free before it is due.
		if err := l.pause(ctx, min(left, d.Until.Sub(now))); err != nil {
			return err
		}
	}
}

// pause waits before the next look, for so long at most.
func (l *Lock) pause(ctx context.Context, most time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(min(most, l.Duration/10)):
		return nil
	}
}

// hasEnded tells whether the run that holds a Lease has certainly ended. Its requests under
// way come too late: each one names the version that it was decided on.
func (l *Lock) hasEnded(lease *coordinationv1.Lease) bool {
	return l.Ended != nil && lease != nil && l.Ended(holderOf(lease))
}

// telling is what who waits has been told.
type telling struct {
	waits  bool
	silent string // the holder that stopped renewing
}

// news tells whether there is something to tell, and takes it for told.
func (t *telling) news(e *HeldError) bool {
	news := !t.waits || e.Stopped && e.Holder != t.silent
	t.waits = true
	if t.silent = ""; e.Stopped {
		t.silent = e.Holder
	}
	return news
}

// get gives nil for a Lease that does not exist.
func (l *Lock) get(ctx context.Context) (*coordinationv1.Lease, error) {
	lease, err := l.leases.Get(ctx, l.Hub.Namespace, l.name())
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return lease, err
}

// take makes a Lease ours that is free, nil for one that does not exist. Where
// it already is ours, a write whose answer was lost has done it. It tells
// whether to read again after an error: another run was faster, or none
// knows whether the write took effect. Outdated is that the run which it names as
// waiting may have died.
func (l *Lock) take(ctx context.Context, lease *coordinationv1.Lease, state State, outdated bool) (again bool, err error) {
	if state == Ours && !l.term.since().IsZero() {
		l.lease = lease
		return false, nil
	}
	next, write := l.taken(lease), l.leases.Update
	l.mark(next, outdated)
	if lease == nil {
		write = l.leases.Create
	}
	l.term.begin(next.Spec.RenewTime.Time)
	got, err := write(ctx, next)
	if err == nil {
		l.lease = got
		return false, nil
	}
	// Where there was none to update, it was deleted; else the namespace is missing.
	return passes(err) || apierrors.IsNotFound(err) && lease != nil, err
}

// passes tells of the error of a write whether to look again: another client was
// faster, or none knows whether the write took effect.
func passes(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return true
	}
	code := status.Status().Code
	return code == http.StatusConflict || code >= http.StatusInternalServerError
}

// abandonGrace is how long an interrupted Acquire may take to give back.
const abandonGrace = 2 * time.Second

// gaveUp ends Acquire. Where it was interrupted after a write whose answer it
// did not see, the Lease may be ours: others need not wait until it expires.
func (l *Lock) gaveUp(ctx context.Context, verb string, cause error) error {
	if ctx.Err() == nil || l.term.since().IsZero() {
		return l.failed(verb, cause)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonGrace)
	defer cancel()
	if lease, err := l.get(ctx); err == nil && lease != nil {
		l.lease = lease
		_ = l.Release(ctx) // it becomes free by itself
	}
	return l.failed(verb, cause)
}

// taken is a Lease as it is when it is ours from now on.
func (l *Lock) taken(lease *coordinationv1.Lease) *coordinationv1.Lease {
	transitions := int32(0)
	if lease == nil {
		lease = &coordinationv1.Lease{
			TypeMeta: metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
			ObjectMeta: metav1.ObjectMeta{
				Namespace: l.Hub.Namespace, Name: l.name(),
				Labels: map[string]string{wellknown.LabelHub: l.Hub.Name, wellknown.LabelManagedBy: wellknown.ManagedBy},
			},
		}
	} else {
		lease = lease.DeepCopy()
		if lease.Spec.LeaseTransitions != nil {
			transitions = *lease.Spec.LeaseTransitions
		}
		transitions++
	}
	now := metav1.NewMicroTime(l.Now())
	lease.Spec.HolderIdentity = &l.Identity
	lease.Spec.LeaseDurationSeconds = l.seconds()
	lease.Spec.AcquireTime = &now
	lease.Spec.RenewTime = &now
	lease.Spec.LeaseTransitions = &transitions
	return lease
}

// seconds is how long the Lease is valid after each renewal, as the Lease says it.
func (l *Lock) seconds() *int32 {
	return new(int32(l.Duration / time.Second)) //nolint:gosec // some seconds
}

// Discard has Release delete the Lease, for a hub that is no more. Who waits for
// it makes a new one.
func (l *Lock) Discard() { l.discarded = true }

// Release ends the renewals and gives the Lease back. One that is no longer ours
// is no error. Where it fails, the Lease becomes free by itself when it is no
// longer valid.
func (l *Lock) Release(ctx context.Context) error {
	_, err := l.release(ctx)
	return err
}

// release tells whether the Lease was ours until it was given back.
func (l *Lock) release(ctx context.Context) (given bool, err error) {
	if l.quit != nil {
		close(l.quit)
		l.quit = nil
		select {
		case <-l.ended:
		case <-ctx.Done():
			return false, l.failed("release", context.Cause(ctx))
		}
	}
	lease := l.lease
	l.lease = nil
	l.term.begin(time.Time{})
	for range takes {
		if lease == nil || holderOf(lease) != l.Identity {
			return false, nil
		}
		err := l.giveBack(ctx, lease)
		switch {
		case err == nil:
			return true, nil
		case apierrors.IsNotFound(err):
			return false, nil
		case !apierrors.IsConflict(err):
			return false, l.failed("release", err)
		}
		if lease, err = l.get(ctx); err != nil {
			return false, l.failed("release", err)
		}
	}
	return false, l.failed("release", errors.New("others keep changing it"))
}

// giveBack releases the Lease, or deletes it.
func (l *Lock) giveBack(ctx context.Context, lease *coordinationv1.Lease) error {
	if l.discarded {
		return l.leases.Delete(ctx, lease.Namespace, lease.Name, lease.UID, lease.ResourceVersion)
	}
	next := lease.DeepCopy()
	next.Spec.HolderIdentity, next.Spec.RenewTime = nil, nil
	delete(next.Annotations, wellknown.AnnotationHolder) // the run that waits stays: it is its turn
	if l.entered != nil {
		markEntered(next, *l.entered)
	}
	_, err := l.leases.Update(ctx, next)
	return err
}

func (l *Lock) failed(verb string, err error) error {
	return fmt.Errorf("%s Lease %s/%s, which keeps other runs off hub %q: %w", verb, l.Hub.Namespace, l.name(), l.Hub.Name, err)
}
