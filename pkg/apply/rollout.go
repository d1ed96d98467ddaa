package apply

import (
	"context"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

// Rollout limits how many nodes of a form change at once: no further one begins
// to change while MaxSkew of them are not ready.
type Rollout struct {
	MaxSkew int
	// Continue: it goes on with the next nodes though some are broken.
	Continue bool
	Deadline time.Duration // from a node's first write in a run until it is ready; 0: none
}

// rollout hands out the turns of one form. A nil rollout has no limit. It is safe
// for concurrent use.
type rollout struct {
	Rollout
	// rolling: the form changes some node in this run. proven: some node of the form is
	// recorded as ready.
	rolling, proven bool

	mu      sync.Mutex
	turns   plan.Turns
	changed chan struct{} // closed when the turns have changed
}

func newRollout(o Rollout) *rollout {
	return &rollout{Rollout: o, turns: plan.Turns{Most: o.MaxSkew, Continue: o.Continue}, changed: make(chan struct{})}
}

// acquire waits for a node's turn. Where there is none it gives how the node ends,
// and why.
func (o *rollout) acquire(ctx context.Context, s plan.Share) (Outcome, string) {
	if o == nil {
		return "", ""
	}
	for {
		verdict, why, changed := o.ask(s)
		switch {
		case verdict == plan.TurnNow:
			return "", ""
		case ctx.Err() != nil: // it broke off the others too
			return OutcomeInterrupted, beforeItBegan
		case verdict == plan.TurnNever:
			return OutcomeSkipped, why
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return OutcomeInterrupted, beforeItBegan
		}
	}
}

// ask takes a turn where there is one.
func (o *rollout) ask(s plan.Share) (plan.Turn, string, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	verdict := o.turns.Ask(s)
	switch verdict {
	case plan.TurnNow:
		o.turns.Take(s)
	case plan.TurnNever:
		return verdict, o.turns.Why(), nil
	}
	return verdict, "", o.changed
}

// change changes the turns, and has those who wait look again.
func (o *rollout) change(change func(*plan.Turns)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(&o.turns)
	close(o.changed)
	o.changed = make(chan struct{})
}

// release ends a node's turn.
func (o *rollout) release(s plan.Share, n plan.NodeKey, outcome Outcome) {
	if o != nil {
		o.change(func(t *plan.Turns) { t.End(s, n, severity(outcome) <= severity(OutcomeDone), string(outcome)) })
	}
}

// lend gives a turn to others for a while, takeBack waits until it is free again.
// A node that waits for another one must not keep that from its turn. One that has
// begun goes on though broken nodes have all turns.
func (o *rollout) lend(s plan.Share) {
	if o != nil {
		o.change(func(t *plan.Turns) { t.Give(s) })
	}
}

func (o *rollout) takeBack(s plan.Share) {
	if o == nil {
		return
	}
	if s == plan.ShareForm {
		s = plan.ShareRow // whatever it was that kept it from beginning
	}
	for {
		verdict, _, changed := o.ask(s)
		if verdict == plan.TurnNow {
			return
		}
		<-changed
	}
}
