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

// Entered is the run of a shard that the Lease of its hub names. It has the Lease of its
// shard, and took the Lease of the hub for a moment: no run of the whole hub was at work then,
// and each one waits until the Lease of the shard is free.
type Entered struct {
	Index  int    `json:"index"`
	Count  int    `json:"count"`
	Holder string `json:"holder"` // of the Lease of the shard
}

// Shard is the shard of the run.
func (e Entered) Shard() lynq.Shard { return lynq.Shard{Index: e.Index, Count: e.Count} }

// Entered are the runs of shards that the Lease names which Acquire took. Call it before Hold.
// A list that cannot be read is an error: nobody knows which runs are at work.
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

// ForgetEntered has the Lease name no run of a shard from its release on: all have ended.
func (l *Lock) ForgetEntered() { l.entered = &[]Entered{} }

// Enter releases the Lease of the hub, and has it name the runs of shards. The error is a
// *LostError where the Lease was not ours any more: then another run may be at work.
func (l *Lock) Enter(ctx context.Context, entered []Entered) error {
	l.entered = &entered
	given, err := l.release(ctx)
	if err == nil && !given {
		return l.lost("", errors.New("it is no longer ours"))
	}
	return err
}

// Join has each renewal of a shard's Lease check that the Lease of the hub still names us. Who
// removes the name, or the Lease, lets a run of the whole hub begin: then this one ends.
func (l *Lock) Join() { l.joined.Store(true) }

// stillNamed is a *LostError where the Lease of the hub names the run of a shard no more.
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
	text, _ := json.Marshal(entered) // numbers and texts can always be written
	annotate(l, wellknown.AnnotationEntered, string(text))
}

// AwaitEnd waits until a holder has the Lease no more, without taking it. The error is a
// *HeldError, the context's cause, or the server's.
//
// Whoever may write Leases may have written another name into it: then the holder learns that
// with its next renewal, and has as long as the Lease is valid.
func (l *Lock) AwaitEnd(ctx context.Context, holder string, wait time.Duration) error {
	began := l.Now()
	var seen seenLease
	var told telling
	var replaced time.Time
	for {
		lease, err := l.get(ctx)
		if err != nil {
			return l.failed("read", err)
		}
		if l.Ended != nil && l.Ended(holder) {
			return nil // whoever has the Lease now
		}
		now := l.Now()
		d := Decide(lease, seen.look(lease, now), now, l.claimant())
		if d.State == HeldByOther && holderOf(lease) != holder {
			if replaced.IsZero() {
				replaced = now
			}
			d.Until = replaced.Add(l.claimant().valid(lease))
		}
		if d.State == Free || !replaced.IsZero() && !now.Before(d.Until) {
			return nil
		}
		held := l.held(lease, d, now.Sub(began))
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
