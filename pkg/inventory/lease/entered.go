package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Entered is the run of a shard that the hub's Lease names. It holds the Lease of its
// shard, and held the Lease of the hub for a moment. So no run of the whole hub was at
// work then. Each later one waits until the shard's Lease is free.
type Entered struct {
	Index  int    `json:"index"`
	Count  int    `json:"count"`
	Holder string `json:"holder"` // holder of the shard's Lease
}

// Shard returns the run's shard.
func (e Entered) Shard() lynq.Shard { return lynq.Shard{Index: e.Index, Count: e.Count} }

// Entered returns the runs of shards in the Lease that Acquire took. Call it before Hold.
// An unreadable list is an error, because it hides runs that are at work.
func (l *Lock) Entered() ([]Entered, error) { return l.read(l.lease) }

func (l *Lock) read(lease *coordinationv1.Lease) ([]Entered, error) {
	text := lease.Annotations[wellknown.AnnotationEntered]
	if text == "" {
		return nil, nil
	}
	var entered []Entered
	if err := json.Unmarshal([]byte(text), &entered); err != nil {
		return nil, l.unreadable(err)
	}
	for _, e := range entered {
		if _, err := lynq.NewShard(e.Index, e.Count); err != nil {
			return nil, l.unreadable(err)
		}
	}
	return entered, nil
}

func (l *Lock) unreadable(err error) error {
	return l.failed("read", fmt.Errorf("annotation %s: %w (if no run of a shard is at work, remove it)", wellknown.AnnotationEntered, err))
}

// ForgetEntered removes the runs of shards from the Lease at its release, because all of
// them have ended.
func (l *Lock) ForgetEntered() { l.entered = &[]Entered{} }

// Enter releases the hub's Lease, and writes the runs of shards into it. The error is a
// *LostError if the lock was lost before, because another run may be at work then.
func (l *Lock) Enter(ctx context.Context, entered []Entered) error {
	l.entered = &entered
	given, err := l.release(ctx)
	if err == nil && !given {
		return l.lost("", errors.New("it is no longer ours"))
	}
	return err
}

// Join makes each renewal of a shard's Lease check that the hub's Lease still names this
// run. If somebody removes the name or the Lease, a run of the whole hub can start. So
// this run ends.
func (l *Lock) Join() { l.joined.Store(true) }

// stillNamed returns a *LostError if the hub's Lease no longer names this run of a shard.
func (l *Lock) stillNamed(ctx context.Context) error {
	if !l.joined.Load() {
		return nil
	}
	hub, err := l.leases.Get(ctx, l.Hub.Namespace, wellknown.LeaseName(l.Hub.Name))
	switch {
	case apierrors.IsNotFound(err):
		return l.lost("", errors.New("the Lease of the hub was deleted"))
	case err != nil:
		return err
	}
	entered, err := l.read(hub)
	if err != nil || !slices.Contains(entered, Entered{Index: l.Shard.Index, Count: l.Shard.Count, Holder: l.Identity}) {
		return l.lost("", errors.New("somebody removed this run from the Lease of the hub"))
	}
	return nil
}

func markEntered(l *coordinationv1.Lease, entered []Entered) {
	if len(entered) == 0 {
		delete(l.Annotations, wellknown.AnnotationEntered)
		return
	}
	text, _ := json.Marshal(entered) // numbers and texts always encode
	annotate(l, wellknown.AnnotationEntered, string(text))
}

// AwaitEnd waits until a holder no longer has the Lease, without taking it. The error is a
// *HeldError, the context's cause, or the server's.
//
// Anybody who may write Leases can replace the holder's name. The holder then notices this
// at its next renewal. So AwaitEnd also waits as long as the Lease is valid.
func (l *Lock) AwaitEnd(ctx context.Context, holder string, wait time.Duration) error {
	began := l.Now()
	var told telling
	var replaced time.Time
	l.seen = seenLease{}
	for {
		lease, err := l.get(ctx)
		if err != nil {
			return l.failed("read", err)
		}
		if l.Ended != nil && l.Ended(holder) {
			return nil // whoever holds it now
		}
		now := l.Now()
		if lease == nil && l.seen.held == nil {
			l.seen.look(&coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder}}, now) // somebody deleted it before
		}
		d, shown := l.decide(ctx, lease, now)
		if d.State == HeldByOther && holderOf(shown) != holder {
			if replaced.IsZero() {
				replaced = now
			}
			d.Until = replaced.Add(l.claimant().valid(shown))
		}
		if d.State == Free || !replaced.IsZero() && !now.Before(d.Until) {
			return nil
		}
		held := l.held(shown, d, now.Sub(began))
		held.Deleted = lease == nil
		left := wait - held.Waited
		if left <= 0 {
			return held
		}
		if l.Waiting != nil && told.news(held) {
			l.Waiting(held)
		}
		if err := l.pause(ctx, min(left, d.Until.Sub(now))); err != nil {
			return err
		}
	}
}
