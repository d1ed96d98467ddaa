package schedule

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Form is a form of a hub.
type Form struct {
	Hub  lynq.HubKey
	Form lynq.FormKey
}

// Limits limit how many nodes of a form change at once. While MaxSkew of them aren't ready,
// no further node begins.
type Limits struct {
	MaxSkew int
	// Continue is set if the rollout continues although some nodes are broken.
	Continue bool
	Deadline time.Duration // from a node's first write in a run until it is ready, 0 for none
	Staging
}

// Rolls reports whether the nodes of the form wait for each other.
func (l *Limits) Rolls() bool { return l.MaxSkew > 0 || len(l.Stages) > 0 }

// Rollout gives turns to the nodes of one form. A nil Rollout has no limit. It is safe for
// concurrent use.
type Rollout struct {
	form     string        // the name of the form
	deadline time.Duration // Deadline of its Limits
	// rolling is set if a change of the form changes nodes in this run. proven is set if a
	// node of the form is recorded as ready.
	rolling, proven bool

	mu      sync.Mutex
	turns   turns
	stages  stages
	changed chan struct{} // closed when the turns have changed
}

// Rollouts has the rollout of each form of a run. A form without one has no limit.
type Rollouts map[Form]*Rollout

// NewRollouts returns the rollouts of forms with limits.
func NewRollouts(limits map[Form]Limits) Rollouts {
	all := Rollouts{}
	for form, l := range limits {
		if !l.Rolls() {
			continue
		}
		most := l.MaxSkew
		if most == 0 {
			most = math.MaxInt
		}
		all[form] = &Rollout{form: form.Form.Name, deadline: l.Deadline, turns: turns{Most: most, Continue: l.Continue}, stages: newStages(l.Staging), changed: make(chan struct{})}
	}
	return all
}

// Note notes which forms work for some node, and which changed forms change nodes.
func (all Rollouts) Note(plans []plan.Plan) {
	for k := range plans {
		for i := range plans[k].Nodes {
			n := &plans[k].Nodes[i]
			if o := all[Form{plans[k].Hub, n.Form}]; o != nil {
				o.proven = o.proven || proven(n)
			}
		}
	}
	for k := range plans {
		for i := range plans[k].Nodes {
			n := &plans[k].Nodes[i]
			if o := all[Form{plans[k].Hub, n.Form}]; o != nil && !o.rolling {
				o.rolling = shareOf(n, o.proven) == ShareForm
			}
		}
	}
	all.noteStages(plans)
}

// noteStages notes which nodes wait for their stage.
func (all Rollouts) noteStages(plans []plan.Plan) {
	nodes, shares := map[*Rollout][]*plan.NodePlan{}, map[*Rollout][]Share{}
	for k := range plans {
		for i := range plans[k].Nodes {
			n := &plans[k].Nodes[i]
			if o := all[Form{plans[k].Hub, n.Form}]; o != nil && len(o.stages.Stages) > 0 {
				nodes[o], shares[o] = append(nodes[o], n), append(shares[o], shareOf(n, o.proven))
			}
		}
	}
	for o, of := range nodes {
		o.stages.note(of, shares[o])
	}
}

// StageOf returns the stage of a node, counted from 1, and the number of stages. Both are 0
// if the form has no stages.
func (o *Rollout) StageOf(n lynq.NodeKey) (stage, stages int) {
	if o == nil || len(o.stages.Stages) == 0 {
		return 0, 0
	}
	return o.stages.Of[n] + 1, len(o.stages.Stages) + 1
}

// Open notes that a node has changes, so that the next stage waits for it.
func (o *Rollout) Open(n lynq.NodeKey) {
	if o == nil {
		return
	}
	if stage, staged := o.stages.Of[n]; staged {
		o.stages.open[stage]++
	}
}

// Ended notes the result of an open node for its stage.
func (o *Rollout) Ended(n lynq.NodeKey, well bool) {
	if o != nil && len(o.stages.Stages) > 0 {
		o.change(func(*turns) { o.stages.end(n, well) })
	}
}

// ShareOf returns the part of a node in the rollout.
func (o *Rollout) ShareOf(p *plan.NodePlan) Share {
	if o == nil {
		return ShareNone
	}
	s := shareOf(p, o.proven)
	if s == ShareStuck && !o.rolling {
		return ShareNone // its turn blocks nobody
	}
	return s
}

// Limit returns the deadline, or 0.
func (o *Rollout) Limit() time.Duration {
	if o == nil {
		return 0
	}
	return o.deadline
}

// Begin waits for a node's turn. It returns TurnNever and TurnNext with the reason, and
// TurnLater if the context ended first.
func (o *Rollout) Begin(ctx context.Context, s Share, n lynq.NodeKey) (Turn, string) {
	if o == nil || s == ShareStuck { // Keep gave it its turn
		return TurnNow, ""
	}
	for {
		verdict, why, changed := o.ask(s, n)
		switch {
		case verdict == TurnNow:
			return verdict, ""
		case ctx.Err() != nil: // that stopped the others too
			return TurnLater, ""
		case verdict != TurnLater:
			return verdict, why
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return TurnLater, ""
		}
	}
}

// Keep makes a node keep its turn from an earlier run. Call it before any node begins.
func (o *Rollout) Keep(s Share) {
	if o != nil && s == ShareStuck {
		o.change(func(t *turns) { t.Take(s) })
	}
}

// ask takes a turn if one is free.
func (o *Rollout) ask(s Share, n lynq.NodeKey) (Turn, string, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if verdict, why := o.stages.ask(o.form, n); verdict != TurnNow {
		return verdict, why, o.changed
	}
	return o.turn(s)
}

// take takes a turn if one is free, for a node that has begun.
func (o *Rollout) take(s Share) (Turn, string, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.turn(s)
}

func (o *Rollout) turn(s Share) (Turn, string, <-chan struct{}) {
	verdict := o.turns.Ask(s)
	switch verdict {
	case TurnNow:
		o.turns.Take(s)
	case TurnNever:
		return verdict, o.turns.Why(o.form), nil
	}
	return verdict, "", o.changed
}

// change changes the turns, and wakes the nodes that wait for one.
func (o *Rollout) change(change func(*turns)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(&o.turns)
	close(o.changed)
	o.changed = make(chan struct{})
}

// End ends a node's turn.
func (o *Rollout) End(s Share, n lynq.NodeKey, e End) {
	if o != nil {
		o.change(func(t *turns) { t.End(s, n, e.Well) })
	}
}

// Pause gives a turn to other nodes for a while. A node that waits for another one must not
// take the turn that this one needs. The node can continue even if broken nodes have all
// turns.
func (o *Rollout) Pause(s Share, n lynq.NodeKey) {
	if o != nil {
		o.change(func(t *turns) { t.Give(s); o.stages.pause(n, 1) })
	}
}

// Resume waits until a turn is free again.
func (o *Rollout) Resume(s Share, n lynq.NodeKey) {
	if o == nil {
		return
	}
	o.change(func(*turns) { o.stages.pause(n, -1) })
	if s == ShareForm {
		s = ShareRow // broken nodes don't block a node that has begun
	}
	for {
		verdict, _, changed := o.take(s)
		if verdict == TurnNow {
			return
		}
		<-changed
	}
}
