package apply

import (
	"context"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// nodeRun carries out the plan of one node, on one goroutine.
type nodeRun struct {
	*run
	// finishing is that of the run, or for a write that many nodes have failed by a
	// context of less patience.
	finishing context.Context
	hub       lynq.HubKey
	of        *plan.Plan
	plan      *plan.NodePlan
	steps     []stepRun
	index     map[string]int // of the desired objects, by id
	waves     waves
	// inventory is the record as it was saved last.
	inventory *inventory.Inventory
	phase     phase
	began     time.Time
	wake      chan struct{} // has room for one
	problems  []string
	outcome   Outcome
	reason    plan.Reason     // why it failed, where that is a word
	recorded  map[string]bool // reasons of Kubernetes events
	waitsFor  map[*provider]bool
	elsewhere bool       // a step waits for another node
	dependent bool       // it was left out because of another node
	share     plan.Share // in the rollout of its form
	changes   time.Time  // since when the run writes to it, or waits for it
}

type stepState uint8

const (
	stepPending stepState = iota
	stepWaiting           // written, not ready yet
	stepDone
)

// stepRun is a step and how far it came.
type stepRun struct {
	*plan.Step
	state    stepState
	outcome  Outcome
	message  string
	entry    *inventory.Entry // what is recorded of it from now on
	gone     bool             // it is waited for until it is gone
	deadline time.Time
	last     ready.Readiness
	resource lynq.APIResource
	tries    int      // that found the object changed
	touched  bool     // some write to the object succeeded
	same     bool     // the last write changed nothing
	notes    []string // of why and from whom, from before it was deleted to be created again
	// interrupted: the run ended before the step did.
	interrupted bool
	// why is a word for how the step ended, where its outcome is not enough.
	why string
	// since is from when on it is waited for; usedUp: its time was over before this
	// run looked.
	since   time.Time
	usedUp  bool
	watched bool // a watch tells of it
	// collected: it is left to the garbage collector, and recorded until the
	// inventory is gone.
	collected bool
}

func newNodeRun(r *run, of *plan.Plan, p *plan.NodePlan) *nodeRun {
	n := &nodeRun{run: r, finishing: r.finishing, hub: of.Hub, of: of, plan: p, steps: make([]stepRun, len(p.Steps)), index: map[string]int{}, inventory: p.Inventory}
	for i := range p.Steps {
		s := &p.Steps[i]
		n.steps[i] = stepRun{Step: s, entry: s.Entry}
		if s.Object != nil {
			n.index[s.Object.ID] = i
			if s.Object.Policy.PurgeOrder != nil {
				n.waves.purges = append(n.waves.purges, i)
			}
		} else if n.hookOf(&n.steps[i]) != nil {
			n.steps[i].entry = nil // that of its hook counts, until it has completed
		}
	}
	if o := r.rollouts[n.form()]; o != nil {
		n.share = plan.ShareOf(p, o.proven)
		if n.share == plan.ShareStuck && !o.rolling {
			n.share = plan.ShareNone // it keeps nothing from its turn
		}
	}
	return n
}

// form is that of the node's row.
func (n *nodeRun) form() FormKey { return FormKey{n.hub, n.plan.FormKey()} }

// idle tells whether there is nothing to do, and nothing to say.
func (n *nodeRun) idle() bool {
	if n.plan.Desired == nil || n.plan.Desired.Failed != nil || n.plan.Replacement != nil || n.plan.Inventory != nil && n.plan.Inventory.UID == "" {
		return false
	}
	leftOut := 0
	for i := range n.steps {
		s := &n.steps[i]
		if s.Reason == plan.ReasonLeftOut {
			s.outcome = OutcomeUnchanged
			leftOut++
			continue
		}
		if n.plan.Inventory == nil {
			return false
		}
		if s.Action != plan.ActionKeep || n.waits(s) && !s.Entry.Ready {
			return false
		}
		s.outcome = OutcomeUnchanged
		r := plan.NewEntry(s.Object)
		if r.ID != s.Entry.ID || r.Conflict != s.Entry.Conflict || r.Order != s.Entry.Order || s.Entry.Excluded ||
			r.DeleteOrder != s.Entry.DeleteOrder || r.Data != s.Entry.Data || n.purges(s) || s.Unpurged() {
			return false // the record is to say so
		}
	}
	if n.plan.Inventory == nil {
		return leftOut > 0
	}
	if leftOut == 0 && !n.inventory.Status.Is(inventory.ConditionReady) && n.status(OutcomeUnchanged).Is(inventory.ConditionReady) {
		return false // it is ready again, and the record has to say so
	}
	next := n.nextInventory()
	return inventory.Equal(n.inventory, next)
}

// waits tells whether the run waits for an object to become ready.
func (n *nodeRun) waits(s *stepRun) bool {
	o := s.Object
	switch {
	case o == nil || n.Options.DryRun || s.Reason == plan.ReasonLeftOut || s.Reason == plan.ReasonCompleted:
		return false
	case plan.Provides(o) != "":
		return s.Action != plan.ActionKeep // others need it now
	case s.hook():
		return true
	case !n.Options.Wait && n.share == plan.ShareNone:
		return false
	}
	return o.Awaited()
}

// mayWait tells whether the run may come to wait for an object: until it is ready,
// or gone.
func (n *nodeRun) mayWait(s *stepRun) bool {
	switch {
	case n.Options.DryRun:
		return false
	case n.purges(s), s.Action == plan.ActionPurge:
		return true
	case s.Object == nil:
		return s.Action == plan.ActionDelete || s.Action == plan.ActionCollect
	case s.Action == plan.ActionKeep:
		return n.waits(s) && !s.Entry.Ready
	case s.Action == plan.ActionSkip || s.Action == plan.ActionBlock:
		return false
	}
	return n.waits(s) || s.Live != nil && s.Live.Deleting || s.Recreates()
}

// perform is the life of a node in a run. While it waits nothing else is on its
// stack, which the collector can then make small: there may be thousands of nodes
// that wait, and requests have made their stacks large.
func (n *nodeRun) perform(ctx context.Context) {
	n.began = n.Now().UTC().Truncate(time.Second)
	n.report(Event{Type: EventNodeStart})
	if n.Worker != nil {
		n.handOut(ctx)
		return
	}
	if !n.begin(ctx) {
		return
	}
	for !n.advance(ctx) {
		n.wait(ctx)
	}
	n.finish()
}

// begin saves what the node is about to own; false means that the node has failed.
func (n *nodeRun) begin(ctx context.Context) bool {
	if n.plan.Desired != nil && n.plan.Desired.Failed != nil {
		n.fail(n.plan.Desired.Failed)
		return false
	}
	n.wake = make(chan struct{}, 1)
	if n.plan.Desired == nil && len(n.steps) > 0 {
		n.record(eventNormal, "LynqNodeDeleting", "the node goes, and its objects as their deletionPolicy says")
	}
	if n.plan.Replacement != nil {
		if err := n.restore(ctx); err != nil {
			n.fail(err)
			return false
		}
	}
	if err := n.recordIntent(); err != nil {
		n.fail(err)
		return false
	}
	if err := n.loadHooks(); err != nil {
		n.fail(err)
		return false
	}
	return true
}

// phase is which of its steps a node carries out.
type phase uint8

const (
	phaseWanted  phase = iota // of the objects that it wants
	phaseLeaving              // of those that it wants no more
	phaseLast                 // of those that the garbage collector would not take
)

// advance goes on until all is done, or false, until the node must wait.
func (n *nodeRun) advance(ctx context.Context) bool {
	for n.carryOut(ctx) {
		switch n.phase {
		case phaseWanted:
			n.completeHooks()
			if severity(n.worst()) > severity(OutcomeDone) {
				n.keepLeaving()
				return true
			}
			if n.plan.Desired != nil {
				n.order.end(n.plan.NodeKey, OutcomeDone) // what leaves may have to wait for those that wait
			}
			n.phase = phaseLeaving
		case phaseLeaving:
			n.uncollect()
			n.phase = phaseLast
		default:
			return true
		}
	}
	return false
}

// selected tells whether a step is of the phase.
func (n *nodeRun) selected(s *stepRun) bool { return (s.Object != nil) == (n.phase == phaseWanted) }

// carryOut runs the steps of the phase: each as soon as what it needs is there. It
// gives whether all have ended.
func (n *nodeRun) carryOut(ctx context.Context) bool {
	for {
		progress, waiting := false, false
		n.elsewhere = false
		for i := range n.steps {
			s := &n.steps[i]
			if !n.selected(s) || s.state == stepDone {
				continue
			}
			switch {
			case s.state == stepWaiting:
				progress = n.look(s) || progress
			case ctx.Err() != nil:
				n.breakOff(s, OutcomeSkipped, "interrupted before its turn came")
				progress = true
			default:
				step := s.Step
				if n.ready(s) {
					n.execute(ctx, s)
				}
				progress = progress || s.state != stepPending || s.Step != step
			}
			waiting = waiting || s.state != stepDone
		}
		if ctx.Err() == nil && n.phase == phaseWanted && n.purgeDone() {
			continue
		}
		switch {
		case !waiting:
			return true
		case progress:
		case n.nextDeadline().IsZero() && !n.elsewhere:
			n.giveUp()
		default:
			return false
		}
	}
}

// wait sleeps until something may have changed. Others may use the slot.
func (n *nodeRun) wait(ctx context.Context) {
	n.release()
	defer func() { n.slots <- struct{}{} }()
	var timeout <-chan time.Time
	if first := n.nextDeadline(); !first.IsZero() {
		timer := time.NewTimer(max(0, first.Sub(n.Now())))
		defer timer.Stop()
		timeout = timer.C
	} else {
		rollout := n.rollouts[n.form()]
		rollout.lend(n.share)
		defer rollout.takeBack(n.share)
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
func (n *nodeRun) giveUp() {
	for i := range n.steps {
		if s := &n.steps[i]; n.selected(s) && s.state == stepPending {
			n.end(s, OutcomeFailed, "it waits for itself: a Namespace or CustomResourceDefinition of the node depends on what needs it (change dependIds or applyOrder)")
		}
	}
}

// interrupt gives up what is waited for: it is written, and the next run looks
// again.
func (n *nodeRun) interrupt() {
	for i := range n.steps {
		if s := &n.steps[i]; s.state == stepWaiting {
			state, _ := n.tracker.state(s.ref())
			switch {
			case s.gone:
				n.breakOff(s, OutcomeNotReady, "interrupted: "+stillDeleting(state))
			default:
				n.breakOff(s, OutcomeNotReady, "interrupted while it was waited for: "+orUnknown(state.Message))
			}
		}
	}
}

// breakOff ends a step since the run ends: nothing is wrong with its object.
func (n *nodeRun) breakOff(s *stepRun, o Outcome, message string) {
	s.interrupted = true
	n.end(s, o, message)
}

// nextDeadline is when the first of the objects that are waited for is late, zero
// where none is waited for.
func (n *nodeRun) nextDeadline() (first time.Time) {
	for i := range n.steps {
		if s := &n.steps[i]; s.state == stepWaiting && (first.IsZero() || s.deadline.Before(first)) {
			first = s.deadline
		}
	}
	return first
}

// wakeUp wakes the node.
func (n *nodeRun) wakeUp() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

func (s *stepRun) ref() lynq.Ref {
	if s.Object != nil {
		return s.Object.Ref
	}
	return s.Entry.Ref
}

func (s *stepRun) id() string {
	if s.Object != nil {
		return s.Object.ID
	}
	return s.Entry.ID
}

// report tells of something of this node.
func (n *nodeRun) report(e Event) {
	e.Time, e.Hub, e.Node, e.Form = n.Now(), n.hub, n.plan.NodeKey, n.plan.FormKey()
	n.Reporter.Report(e)
}

// end ends a step.
func (n *nodeRun) end(s *stepRun, o Outcome, message string) {
	s.state, s.outcome = stepDone, o
	if message != "" {
		s.message = message
	}
	if s.watched {
		n.tracker.forget(s.ref())
		s.watched = false
	}
	n.settle(s)
	n.tellOfTombstone(s)
	if o != OutcomeUnchanged {
		n.report(Event{Type: EventObject, Object: s.ref(), ID: s.id(), Action: s.Action, Reason: s.Reason, Outcome: o, Message: s.message, Adopted: s.Adopted, Conflict: s.conflictPolicy(), Interrupted: s.interrupted})
	}
	switch o {
	case OutcomeFailed, OutcomeConflicted, OutcomeNotReady:
		n.problems = append(n.problems, s.ref().String()+": "+s.message)
	}
}

// conflictPolicy is that of the object, as it is wanted or was recorded.
func (s *stepRun) conflictPolicy() lynq.ConflictPolicy {
	switch {
	case s.Object != nil:
		return s.Object.Policy.Conflict
	case s.Entry != nil:
		return s.Entry.Conflict
	}
	return ""
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
		o = OutcomeSkipped // it is still being deleted, and was not created again
	}
	for _, p := range []*provider{n.providers[plan.Provides(s.Object)], n.handovers[s.Object.Ref]} {
		if p != nil && p.ref == s.Object.Ref && p.node == n.plan.NodeKey {
			p.finish(o)
		}
	}
}

// worst is the outcome of the node so far.
func (n *nodeRun) worst() Outcome {
	worst := OutcomeUnchanged
	for i := range n.steps {
		if n.steps[i].Action == plan.ActionSkip {
			continue // left alone on purpose
		}
		o := n.steps[i].outcome
		if n.steps[i].interrupted {
			o = OutcomeInterrupted
		}
		if severity(o) > severity(worst) {
			worst = o
		}
	}
	return worst
}

func severity(o Outcome) int {
	switch o {
	case OutcomeFailed:
		return 6
	case OutcomeConflicted:
		return 5
	case OutcomeNotReady:
		return 4
	case OutcomeInterrupted:
		return 3
	case OutcomeSkipped:
		return 2
	case OutcomeDone:
		return 1
	}
	return 0
}
