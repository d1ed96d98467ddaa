package apply

import (
	"context"
	"time"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// nodeRun carries out the plan of one node, on one goroutine.
type nodeRun struct {
	*run
	plan  *NodePlan
	steps []stepRun
	index map[string]int // of the desired objects, by id
	// inventory is the record as it was saved last.
	inventory *inventory.Inventory
	began     time.Time
	wake      chan struct{} // has room for one
	problems  []string
	outcome   Outcome
	recorded  map[string]bool // reasons of Kubernetes events
	waitsFor  map[*provider]bool
	elsewhere bool     // a step waits for another node
	turn      *rollout // that the node has its turn in, nil for none
}

type stepState uint8

const (
	stepPending stepState = iota
	stepWaiting           // written, not ready yet
	stepDone
)

// stepRun is a step and how far it came.
type stepRun struct {
	*Step
	state    stepState
	outcome  Outcome
	message  string
	record   *inventory.Record // what is recorded of it from now on
	gone     bool              // it is waited for until it is gone
	deadline time.Time
	last     Readiness
	resource lynq.APIResource
	tries    int  // that found the object changed
	touched  bool // some write to the object succeeded
	same     bool // the last write changed nothing
}

func newNodeRun(r *run, p *NodePlan) *nodeRun {
	n := &nodeRun{run: r, plan: p, steps: make([]stepRun, len(p.Steps)), index: map[string]int{}, inventory: p.Inventory}
	for i := range p.Steps {
		s := &p.Steps[i]
		n.steps[i] = stepRun{Step: s, record: s.Record}
		if s.Object != nil {
			n.index[s.Object.ID] = i
		}
	}
	return n
}

// form is that of the node's row.
func (n *nodeRun) form() FormKey { return FormKey{n.plan.Hub, n.plan.Form} }

// idle tells whether there is nothing to do, and nothing to say.
func (n *nodeRun) idle() bool {
	if n.plan.Desired == nil || n.plan.Desired.Failed != nil {
		return false
	}
	leftOut := 0
	for i := range n.steps {
		s := &n.steps[i]
		if s.Reason == ReasonLeftOut {
			s.outcome = OutcomeUnchanged
			leftOut++
			continue
		}
		if n.plan.Inventory == nil {
			return false
		}
		if s.Action != ActionKeep || n.waits(s) && !s.Record.Ready {
			return false
		}
		s.outcome = OutcomeUnchanged
		r := newRecord(s.Object)
		if r.ID != s.Record.ID || r.Conflict != s.Record.Conflict || r.Order != s.Record.Order {
			return false // the record is to say so
		}
	}
	if n.plan.Inventory == nil {
		return leftOut > 0
	}
	next := n.nextInventory()
	return inventory.Equal(n.inventory, next)
}

// waits tells whether the run waits for an object to become ready.
func (n *nodeRun) waits(s *stepRun) bool {
	o := s.Object
	switch {
	case o == nil || n.Options.DryRun || s.Reason == ReasonLeftOut:
		return false
	case provides(o) != "":
		return s.Action != ActionKeep // others need it now
	case !n.Options.Wait && n.rollouts[n.form()] == nil:
		return false
	}
	return o.Policy.WaitForReady && !alwaysReady(o.Group, o.Kind, o.Body)
}

// perform is the life of a node in a run.
func (n *nodeRun) perform(ctx context.Context) {
	n.began = n.Now().UTC().Truncate(time.Second)
	n.report(Event{Type: EventNodeStart})
	if n.plan.Desired != nil && n.plan.Desired.Failed != nil {
		n.fail(n.plan.Desired.Failed)
		return
	}
	n.wake = make(chan struct{}, 1)
	if n.plan.Desired == nil && len(n.steps) > 0 {
		n.record(eventNormal, "LynqNodeDeleting", "the node goes, and its objects as their deletionPolicy says")
	}
	if err := n.recordIntent(); err != nil {
		n.fail(err)
		return
	}
	n.carryOut(ctx, func(s *stepRun) bool { return s.Object != nil })
	if n.worst() == OutcomeDone || n.worst() == OutcomeUnchanged {
		n.carryOut(ctx, func(s *stepRun) bool { return s.Object == nil })
	} else {
		n.keepLeaving()
	}
	n.finish()
}

// carryOut runs the selected steps: each as soon as what it needs is there.
func (n *nodeRun) carryOut(ctx context.Context, selected func(*stepRun) bool) {
	for {
		progress, waiting := false, false
		n.elsewhere = false
		for i := range n.steps {
			s := &n.steps[i]
			if !selected(s) || s.state == stepDone {
				continue
			}
			switch {
			case s.state == stepWaiting:
				progress = n.look(s) || progress
			case ctx.Err() != nil:
				n.end(s, OutcomeSkipped, "interrupted before its turn came")
				progress = true
			default:
				if n.ready(s) {
					n.execute(ctx, s)
				}
				progress = progress || s.state != stepPending
			}
			waiting = waiting || s.state != stepDone
		}
		if !waiting {
			return
		}
		if !progress {
			n.wait(ctx, selected)
		}
	}
}

// wait sleeps until something may have changed. Others may use the slot.
func (n *nodeRun) wait(ctx context.Context, selected func(*stepRun) bool) {
	d, objects := n.nextDeadline()
	if !objects && !n.elsewhere {
		n.giveUp(selected)
		return
	}
	n.release()
	defer func() { n.slots <- struct{}{} }()
	var timeout <-chan time.Time
	if objects {
		timer := time.NewTimer(d)
		defer timer.Stop()
		timeout = timer.C
	} else {
		n.turn.lend()
		defer n.turn.takeBack()
	}
	select {
	case <-n.wake:
	case <-timeout:
	case <-ctx.Done():
		n.interrupt()
	}
}

// giveUp ends steps that wait for nothing but each other: a Namespace that
// depends on what is to be in it, a kind on an object of that kind.
func (n *nodeRun) giveUp(selected func(*stepRun) bool) {
	for i := range n.steps {
		if s := &n.steps[i]; selected(s) && s.state == stepPending {
			n.end(s, OutcomeFailed, "it waits for itself: a Namespace or CustomResourceDefinition of the node depends on what needs it (change dependIds)")
		}
	}
}

// interrupt gives up what is waited for: it is written, and the next run looks
// again.
func (n *nodeRun) interrupt() {
	for i := range n.steps {
		if s := &n.steps[i]; s.state == stepWaiting {
			state, _ := n.tracker.state(s.ref())
			n.tracker.forget(s.ref())
			switch {
			case s.gone:
				n.end(s, OutcomeNotReady, "interrupted: "+stillDeleting(state))
			default:
				n.end(s, OutcomeNotReady, "interrupted while it was waited for: "+orUnknown(state.Message))
			}
		}
	}
}

func (n *nodeRun) nextDeadline() (time.Duration, bool) {
	var first time.Time
	for i := range n.steps {
		if s := &n.steps[i]; s.state == stepWaiting && (first.IsZero() || s.deadline.Before(first)) {
			first = s.deadline
		}
	}
	return max(0, first.Sub(n.Now())), !first.IsZero()
}

// poke wakes the node.
func (n *nodeRun) poke() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

func (s *stepRun) ref() lynq.Ref {
	if s.Object != nil {
		return s.Object.Ref
	}
	return s.Record.Ref
}

func (s *stepRun) id() string {
	if s.Object != nil {
		return s.Object.ID
	}
	return s.Record.ID
}

// report tells of something of this node.
func (n *nodeRun) report(e Event) {
	e.Time, e.Hub, e.Node = n.Now(), n.plan.Hub, n.plan.NodeKey
	n.Reporter.Report(e)
}

// end ends a step.
func (n *nodeRun) end(s *stepRun, o Outcome, message string) {
	s.state, s.outcome = stepDone, o
	if message != "" {
		s.message = message
	}
	n.settle(s)
	if o != OutcomeUnchanged {
		n.report(Event{Type: EventObject, Object: s.ref(), ID: s.id(), Action: s.Action, Reason: s.Reason, Outcome: o, Message: s.message})
	}
	switch o {
	case OutcomeFailed, OutcomeConflicted, OutcomeNotReady:
		n.problems = append(n.problems, s.ref().String()+": "+s.message)
	}
}

// settle tells those who wait for a step that it has ended.
func (n *nodeRun) settle(s *stepRun) {
	if s.Object == nil {
		if p := n.departures.byRef[s.ref()]; p != nil {
			p.finish(s.outcome)
		}
		return
	}
	o := s.outcome
	if s.gone {
		o = OutcomeSkipped // it is still being deleted, and was not made anew
	}
	for _, p := range []*provider{n.providers[provides(s.Object)], n.handovers[s.Object.Ref]} {
		if p != nil && p.ref == s.Object.Ref && p.node == n.plan.NodeKey {
			p.finish(o)
		}
	}
}

// worst is the outcome of the node so far.
func (n *nodeRun) worst() Outcome {
	worst := OutcomeUnchanged
	for i := range n.steps {
		if n.steps[i].Action == ActionSkip {
			continue // left alone on purpose
		}
		if o := n.steps[i].outcome; severity(o) > severity(worst) {
			worst = o
		}
	}
	return worst
}

func severity(o Outcome) int {
	switch o {
	case OutcomeFailed:
		return 5
	case OutcomeConflicted:
		return 4
	case OutcomeNotReady:
		return 3
	case OutcomeSkipped:
		return 2
	case OutcomeDone:
		return 1
	}
	return 0
}
