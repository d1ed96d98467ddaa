package lease

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
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

// Leases reads and writes Leases for a Lock, under the same rules as ConfigMaps. Its
// methods return soon after their context ends.
type Leases interface {
	Get(ctx context.Context, namespace, name string) (*coordinationv1.Lease, error)
	Create(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error)
	// Update replaces a Lease with this uid and resource version. Otherwise it returns a
	// conflict.
	Update(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error)
	// Delete deletes a Lease with this uid and resource version. Otherwise it returns a
	// conflict.
	Delete(ctx context.Context, namespace, name string, uid types.UID, resourceVersion string) error
}

// Options say who locks which hub.
type Options struct {
	Hub lynq.HubKey
	// Shard is the run's shard. The zero Shard locks the whole hub.
	Shard lynq.Shard
	// Identity identifies the run for people. It has user, host, process and a random
	// part. See the function Identity.
	Identity string
	// Continuous keeps the Lease, and yields it to other runs. The holder releases it soon
	// after Wanted is closed.
	Continuous bool
	// Duration is how long the Lease is valid after each renewal, in whole seconds. With
	// 0, it is DefaultLeaseDuration or ContinuousLeaseDuration.
	Duration time.Duration
	// Now is the clock, or nil for the system's.
	Now func() time.Time
	// Ended, if not nil, reports whether a holder has certainly ended.
	Ended func(holder string) bool
	// Discarded, if not nil, reports whether the run that had a Lease deleted it with its
	// hub. Without it, somebody else may have deleted any missing Lease.
	Discarded func(ctx context.Context) bool
	// Waiting, if not nil, is called when Acquire starts to wait. It is also called once
	// for each holder that stops renewing.
	Waiting func(*HeldError)
}

// Lock keeps other runs off a hub. Call Look before you read the guarded data, then
// Acquire, Hold, Check before each write, and Release. Only Check may run in other
// goroutines.
type Lock struct {
	leases Leases
	Options

	lease *coordinationv1.Lease // as we last wrote it; nil if we don't hold it
	quit  chan struct{}         // closing it ends the renewals
	ended chan struct{}         // closed after the renewals have ended
	// discarded means that Release deletes the Lease.
	discarded bool
	// noted is the Lease that Look saw, or nil. It is valid if looked is set.
	noted  *coordinationv1.Lease
	looked bool
	// seen is what this Acquire saw of the Lease, beginning with Look.
	seen seenLease
	// unreleased says why the Lease may still name this run after Release, or is nil.
	unreleased error
	// changed is set if another run may have held the Lease since.
	changed bool
	// asked is set if the Lease may name us as waiting. returns is set if we come back after
	// Release. yielded is the continuous holder that comes back after ours, or "".
	asked, returns bool
	yielded        string
	wanted         *wanted
	term           term
	// entered are the runs of shards that Release writes into the Lease. With nil, Release
	// changes none.
	entered *[]Entered
	// joined is set if the hub's Lease must name us, the run of a shard.
	joined atomic.Bool
}

// name returns the Lease's name.
func (l *Lock) name() string { return l.Shard.LeaseName(l.Hub.Name) }

// NewLock returns a Lock. It sends no request.
func NewLock(l Leases, o Options) *Lock {
	switch {
	case o.Duration != 0:
	case o.Continuous:
		o.Duration = ContinuousLeaseDuration
	default:
		o.Duration = DefaultLeaseDuration
	}
	// Others can only use whole seconds, so we must too.
	o.Duration = max(o.Duration.Truncate(time.Second), time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Lock{leases: l, Options: o, wanted: newWanted()}
}

func (l *Lock) claimant() Claimant {
	return Claimant{Identity: l.Identity, Continuous: l.Continuous, Least: min(l.Duration, DefaultLeaseDuration)}
}

// Look reads the Lease. If Acquire finds it unchanged, data read after Look is as new as
// the lock.
func (l *Lock) Look(ctx context.Context) error {
	lease, err := l.get(ctx)
	if err != nil {
		return l.failed("read", err)
	}
	l.noted, l.looked = lease, true
	l.seen = seenLease{}
	l.seen.look(lease, l.Now())
	return nil
}

// Changed reports whether another run may have held the lock between Look and Acquire.
// Data read in that time may then be old.
func (l *Lock) Changed() bool { return l.changed }

// LooksFree reports whether Look saw a Lease that Acquire can take at once.
func (l *Lock) LooksFree() bool {
	now := l.Now()
	return l.looked && Decide(l.noted, Seen{Since: now, Waiting: now}, now, l.claimant()).State == Free
}

// takeNoted takes the Lease that Look saw, if it was free. This needs no further read,
// because the write fails if the Lease has changed.
func (l *Lock) takeNoted(ctx context.Context) (taken, again bool, err error) {
	noted, free := l.noted, l.LooksFree()
	l.noted, l.looked, l.changed = nil, false, true
	if !free {
		return false, true, nil
	}
	if again, err = l.take(ctx, noted, Free, false); err == nil {
		l.changed = false
	}
	return err == nil, again, err
}

// takes limits the attempts of Acquire to take a free Lease if the server answers none of
// them. It is also the number of attempts without a pause if other clients are faster.
const takes = 5

// between limits the pause after another client was faster. It is random, so that runs
// that start together don't meet again.
const between = 200 * time.Millisecond

// Forever makes Acquire wait until it has the Lease.
const Forever = time.Duration(math.MaxInt64)

// Acquire takes the Lease. It waits for another holder as long as wait says, and not at
// all for 0. A continuous holder learns that we wait. The error is a *HeldError, the
// context's cause, or the server's.
func (l *Lock) Acquire(ctx context.Context, wait time.Duration) error {
	l.lease, l.asked, l.returns, l.wanted, l.unreleased = nil, false, false, newWanted(), nil
	l.term.begin(time.Time{})
	defer func() { l.seen = seenLease{} }()
	if taken, again, err := l.takeNoted(ctx); taken {
		l.yielded = YieldedBy(l.lease)
		return nil
	} else if !again || err != nil && ctx.Err() != nil {
		return l.gaveUp(ctx, "take", err)
	}
	err := l.await(ctx, wait)
	switch {
	case err == nil:
		l.yielded = YieldedBy(l.lease)
	case l.asked || l.Continuous && ctx.Err() != nil: // after an error, a continuous holder tries again
		l.withdraw(ctx)
	}
	return err
}

// await takes the Lease as soon as it is free.
func (l *Lock) await(ctx context.Context, wait time.Duration) error {
	began := l.Now()
	var told telling
	for tries := (attempts{}); ; {
		lease, err := l.get(ctx)
		if err != nil {
			return l.gaveUp(ctx, "read", err)
		}
		now := l.Now()
		d, shown := l.decide(ctx, lease, now)
		if d.State == Free || d.State == Ours {
			again, err := l.take(ctx, lease, d.State, lease != nil && l.claimant().outdated(lease, l.seen.Seen, now))
			if err == nil {
				return nil
			}
			if again, err = l.tried(ctx, &tries, again, err, wait-now.Sub(began)); !again {
				return err
			}
			continue
		}
		tries = attempts{} // another run was faster, and will release it
		held := l.held(shown, d, now.Sub(began))
		held.Deleted = lease == nil
		left := wait - held.Waited
		if left <= 0 {
			return held
		}
		if l.Waiting != nil && told.news(held) {
			l.Waiting(held)
		}
		if lease != nil {
			err = l.ask(ctx, lease, d)
		}
		if err != nil {
			return l.gaveUp(ctx, "ask for", err)
		}
		// A holder may release the Lease before it expires.
		if err := l.pause(ctx, min(left, d.Until.Sub(now))); err != nil {
			return err
		}
	}
}

// decide decides about a Lease, nil for a missing one. shown is the Lease that counts: a run
// that had a missing one may still write.
func (l *Lock) decide(ctx context.Context, lease *coordinationv1.Lease, now time.Time) (d Decision, shown *coordinationv1.Lease) {
	shown = lease
	if lease == nil {
		shown = l.seen.missing()
	}
	if lease == nil && shown != nil && (holderOf(shown) == l.Identity || l.Discarded != nil && l.Discarded(ctx)) {
		l.seen, shown = seenLease{}, nil
	}
	s := l.seen.Seen
	if lease != nil || shown == nil {
		s = l.seen.look(lease, now)
	}
	s.Ended = l.hasEnded(shown)
	return Decide(shown, s, now, l.claimant()), shown
}

// attempts counts the attempts to take a Lease that looks free.
type attempts struct{ raced, failed int }

// tried decides whether another attempt follows a failed one. Another client that was
// faster is no failure, so only the lock timeout ends these attempts.
func (l *Lock) tried(ctx context.Context, tries *attempts, again bool, err error, left time.Duration) (bool, error) {
	switch {
	case !again || ctx.Err() != nil:
		return false, l.gaveUp(ctx, "take", err)
	case !raced(err):
		if tries.failed++; tries.failed == takes {
			return false, l.gaveUp(ctx, "take", err)
		}
		return true, nil
	}
	if tries.raced++; tries.raced < takes {
		return true, nil
	}
	if left <= 0 {
		return false, &ContendedError{Hub: l.Hub, Lease: l.name(), Tries: tries.raced, Err: err}
	}
	if err := l.pause(ctx, min(left, rand.N(between))); err != nil { //nolint:gosec // it only spreads runs
		return false, err
	}
	return true, nil
}

// raced reports whether a write failed because another client wrote the Lease first.
func raced(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }

// Yielded returns the identity of the continuous holder that the Lease named as coming back
// when we took it, or "". No clock can be wrong about that.
func (l *Lock) Yielded() string { return l.yielded }

// Returns makes Release say that this continuous holder comes back. Others then know it,
// although nobody has the Lease.
func (l *Lock) Returns() { l.returns = true }

// pause waits until the next look, but at most this long.
func (l *Lock) pause(ctx context.Context, most time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(min(most, l.Duration/10)):
		return nil
	}
}

// hasEnded reports whether the holder of a Lease has certainly ended. Its pending requests
// do no harm, because each one names the version that it expects.
func (l *Lock) hasEnded(lease *coordinationv1.Lease) bool {
	return l.Ended != nil && lease != nil && l.Ended(holderOf(lease))
}

// telling remembers the messages for a waiting run.
type telling struct {
	waits  bool
	silent string // the last holder that stopped renewing, or whose Lease somebody deleted
}

// news reports whether there is a new message, and marks it as sent.
func (t *telling) news(e *HeldError) bool {
	silent := e.Stopped || e.Deleted
	news := !t.waits || silent && e.Holder != t.silent
	t.waits = true
	if t.silent = ""; silent {
		t.silent = e.Holder
	}
	return news
}

// get returns nil for a Lease that doesn't exist.
func (l *Lock) get(ctx context.Context) (*coordinationv1.Lease, error) {
	lease, err := l.leases.Get(ctx, l.Hub.Namespace, l.name())
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return lease, err
}

// take takes a free Lease, or creates it for nil. If the Lease is already ours, an earlier
// write succeeded and its answer was lost. After an error, again says whether another
// attempt makes sense. Either another run was faster, or the result of the write is
// unknown. outdated means that the waiting run may have died.
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
	// If we tried to update a Lease, somebody deleted it. Otherwise the namespace is
	// missing.
	return passes(err) || apierrors.IsNotFound(err) && lease != nil, err
}

// passes reports whether to try again after a failed write. Either another client was
// faster, or the result of the write is unknown.
func passes(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return true
	}
	code := status.Status().Code
	return code == http.StatusConflict || code >= http.StatusInternalServerError
}

// abandonGrace limits how long an interrupted Acquire may take to release the Lease.
const abandonGrace = 2 * time.Second

// gaveUp ends Acquire. If it was interrupted before the answer to a write, the Lease may
// be ours. So it releases the Lease, and others need not wait until it expires.
func (l *Lock) gaveUp(ctx context.Context, verb string, cause error) error {
	switch {
	case l.term.since().IsZero():
		return l.failed(verb, cause)
	case ctx.Err() == nil:
		if l.Continuous && passes(cause) && !raced(cause) { // the result of a write is unknown
			l.unreleased = cause
		}
		return l.failed(verb, cause)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonGrace)
	defer cancel()
	lease, err := l.get(ctx)
	if err != nil {
		l.unreleased = err
	} else if lease != nil {
		l.lease = lease
		_ = l.Release(ctx) // Unreleased tells of it
	}
	return l.failed(verb, cause)
}

// taken returns a Lease with us as its holder.
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

// seconds returns the duration in the Lease's unit.
func (l *Lock) seconds() *int32 {
	return new(int32(l.Duration / time.Second)) //nolint:gosec // the duration is short
}

// Discard makes Release delete the Lease of a deleted hub. A waiting run creates a new
// one.
func (l *Lock) Discard() { l.discarded = true }

// Release ends the renewals and releases the Lease. A lost Lease is no error. If Release
// fails, the Lease expires.
func (l *Lock) Release(ctx context.Context) error {
	_, err := l.release(ctx)
	return err
}

// Unreleased returns why other runs may find the Lease of this ended run, as an
// *UnreleasedError, or nil.
func (l *Lock) Unreleased() error {
	if l.unreleased == nil {
		return nil
	}
	return &UnreleasedError{Hub: l.Hub, Lease: l.name(), Valid: l.Duration, Err: l.unreleased}
}

// release reports whether the Lease was ours until it was released.
func (l *Lock) release(ctx context.Context) (given bool, err error) {
	defer func() { l.unreleased = errors.Unwrap(err) }() // without the Lease's name
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
	until := l.Now().Add(l.Duration) // others may take it then
	for try := 1; ; try++ {
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
		case !l.Now().Before(until):
			return false, l.failed("release", errors.New("others keep changing it"))
		}
		if try >= takes {
			if err := l.pause(ctx, rand.N(between)); err != nil { //nolint:gosec // it only spreads runs
				return false, l.failed("release", err)
			}
		}
		if lease, err = l.get(ctx); err != nil {
			return false, l.failed("release", err)
		}
	}
}

// giveBack releases or deletes the Lease.
func (l *Lock) giveBack(ctx context.Context, lease *coordinationv1.Lease) error {
	if l.discarded {
		return l.leases.Delete(ctx, lease.Namespace, lease.Name, lease.UID, lease.ResourceVersion)
	}
	next := lease.DeepCopy()
	free(next)
	if l.returns {
		annotate(next, wellknown.AnnotationYielded, l.Identity)
	}
	if l.entered != nil {
		markEntered(next, *l.entered)
	}
	_, err := l.leases.Update(ctx, next)
	return err
}

// free removes the holder of a Lease. It keeps the waiting run, because that is next.
func free(lease *coordinationv1.Lease) {
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = nil, nil
	delete(lease.Annotations, wellknown.AnnotationHolder)
}

func (l *Lock) failed(verb string, err error) error {
	return fmt.Errorf("%s Lease %s/%s, which keeps other runs off hub %q: %w", verb, l.Hub.Namespace, l.name(), l.Hub.Name, err)
}
