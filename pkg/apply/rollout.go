package apply

import (
	"context"
	"sync"
	"time"
)

// Rollout limits how many nodes of a form change at once: no further one begins
// to change while MaxSkew of them are not ready.
type Rollout struct {
	MaxSkew  int
	Deadline time.Duration // from a node's first write in a run until it is ready; 0: none
}

// rollout hands out the turns of one form. A nil rollout has no limit. It is safe
// for concurrent use.
type rollout struct {
	Rollout
	// rolling: the form changes some node in this run.
	rolling bool

	mu      sync.Mutex
	turns   turns
	changed chan struct{} // closed when the turns have changed
}

func newRollout(o Rollout) *rollout {
	return &rollout{Rollout: o, turns: turns{most: o.MaxSkew}, changed: make(chan struct{})}
}

// acquire waits for a node's turn. It gives why there is none.
func (o *rollout) acquire(ctx context.Context, s share) string {
	if o == nil {
		return ""
	}
	for {
		verdict, why, changed := o.ask(s)
		switch verdict {
		case turnNow:
			return ""
		case turnNever:
			return why
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "interrupted before it began"
		}
	}
}

// ask takes a turn where there is one.
func (o *rollout) ask(s share) (turn, string, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	verdict := o.turns.verdict(s)
	switch verdict {
	case turnNow:
		o.turns.take(s)
	case turnNever:
		return verdict, o.turns.why(s), nil
	}
	return verdict, "", o.changed
}

// change changes the turns, and has those who wait look again.
func (o *rollout) change(change func(*turns)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(&o.turns)
	close(o.changed)
	o.changed = make(chan struct{})
}

// release ends a node's turn.
func (o *rollout) release(s share, n NodeKey, outcome Outcome) {
	if o != nil {
		o.change(func(t *turns) { t.end(s, n, severity(outcome) <= severity(OutcomeDone), string(outcome)) })
	}
}

// lend gives a turn to others for a while, takeBack waits until it is free again.
// A node that waits for another one must not keep that from its turn. One that has
// begun goes on though broken nodes have all turns.
func (o *rollout) lend(s share) {
	if o != nil {
		o.change(func(t *turns) { t.give(s) })
	}
}

func (o *rollout) takeBack(s share) {
	if o == nil {
		return
	}
	if s == shareForm {
		s = shareRow // whatever it was that kept it from beginning
	}
	for {
		verdict, _, changed := o.ask(s)
		switch verdict {
		case turnNow:
			return
		case turnNever:
			o.change(func(t *turns) { t.take(s) })
			return
		}
		<-changed
	}
}
