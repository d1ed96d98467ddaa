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

// Limits say how many nodes of a form change at once: no further one begins
// to change while MaxSkew of them are not ready.
type Limits struct {
	MaxSkew int
	// Continue: it goes on with the next nodes though some are broken.
	Continue bool
	Deadline time.Duration // from a node's first write in a run until it is ready; 0: none
	Staging
}

// Rolls tells whether the nodes of the form wait for each other.
func (l *Limits) Rolls() bool { return l.MaxSkew > 0 || len(l.Stages) > 0 }

// Rollout hands out the turns of one form. A nil Rollout has no limit. It is safe
// for concurrent use.
type Rollout struct {
	form     string        // its name
	deadline time.Duration // that of its Limits
	// rolling: the form changes some node in this run. proven: some node of the form is
	// recorded as ready.
	rolling, proven bool

	mu      sync.Mutex
	turns   turns
	stages  stages
	changed chan struct{} // closed when the turns have changed
}

// Rollouts has the rollout of each form of a run. A form that has none has no limit.
type Rollouts map[Form]*Rollout

// NewRollouts makes the rollouts of the forms that have limits.
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

// Note notes which forms are known to work, and which change some of their nodes.
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

// StageOf is the stage of a node, counted from 1, and how many there are; 0 where the form
// has none.
func (o *Rollout) StageOf(n lynq.NodeKey) (stage, stages int) {
	if o == nil || len(o.stages.Stages) == 0 {
		return 0, 0
	}
	return o.stages.Of[n] + 1, len(o.stages.Stages) + 1
}

// Open notes that a node has something to do: the next stage waits for it.
func (o *Rollout) Open(n lynq.NodeKey) {
	if o == nil {
		return
	}
	if stage, staged := o.stages.Of[n]; staged {
		o.stages.open[stage]++
	}
}

// Ended tells the stages how an open node ended.
func (o *Rollout) Ended(n lynq.NodeKey, well bool) {
	if o != nil && len(o.stages.Stages) > 0 {
		o.change(func(*turns) { o.stages.end(n, well) })
	}
}

// ShareOf says which part a node has in the rollout.
func (o *Rollout) ShareOf(p *plan.NodePlan) Share {
	if o == nil {
		return ShareNone
	}
	s := shareOf(p, o.proven)
	if s == ShareStuck && !o.rolling {
		return ShareNone // it keeps nothing from its turn
	}
	return s
}

// Limit is its deadline, 0 for none.
func (o *Rollout) Limit() time.Duration {
	if o == nil {
		return 0
	}
	return o.deadline
}

// Begin waits for a node's turn. TurnNever and TurnNext come with the reason, and TurnLater is that
// the context ended first.
func (o *Rollout) Begin(ctx context.Context, s Share, n lynq.NodeKey) (Turn, string) {
	if o == nil || s == ShareStuck { // which Keep gave its turn
		return TurnNow, ""
	}
	for {
		verdict, why, changed := o.ask(s, n)
		switch {
		case verdict == TurnNow:
			return verdict, ""
		case ctx.Err() != nil: // it broke off the others too
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

// Keep has a node keep the turn that it has from an earlier run, before any other begins.
func (o *Rollout) Keep(s Share) {
	if o != nil && s == ShareStuck {
		o.change(func(t *turns) { t.Take(s) })
	}
}

// ask takes a turn where there is one.
func (o *Rollout) ask(s Share, n lynq.NodeKey) (Turn, string, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if verdict, why := o.stages.ask(o.form, n); verdict != TurnNow {
		return verdict, why, o.changed
	}
	return o.turn(s)
}

// take takes a turn where there is one, for a node that has begun.
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

// change changes the turns, and has those who wait look again.
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

// Lend gives a turn to others for a while, TakeBack waits until it is free again.
// A node that waits for another one must not keep that from its turn. One that has
// begun goes on though broken nodes have all turns.
func (o *Rollout) Lend(s Share, n lynq.NodeKey) {
	if o != nil {
		o.change(func(t *turns) { t.Give(s); o.stages.lend(n, 1) })
	}
}

// TakeBack waits for a turn that was lent.
func (o *Rollout) TakeBack(s Share, n lynq.NodeKey) {
	if o == nil {
		return
	}
	o.change(func(*turns) { o.stages.lend(n, -1) })
	if s == ShareForm {
		s = ShareRow // whatever it was that kept it from beginning
	}
	for {
		verdict, _, changed := o.take(s)
		if verdict == TurnNow {
			return
		}
		<-changed
	}
}
