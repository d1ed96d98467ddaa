package apply

import (
	"context"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/schedule"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// nodeRun executes the plan of one node on one goroutine. It decides the order of events,
// and its parts do the work.
type nodeRun struct {
	run       *run
	of        *plan.Plan
	plan      *plan.NodePlan
	steps     Steps
	requests  requests
	record    record
	decisions decisions
	deletion  deletion
	release   release
	hooks     hooks
	waiter    waiter
	links     schedule.Links
	tell      nodeReporter
	executor  executor
	ending    ending

	phase     phase
	began     time.Time
	wake      chan struct{}      // has room for one
	result    *report.NodeResult // the result of the node, after it ended
	dependent bool               // this run left it out because of another node
	stopped   bool               // it gets no turn in this run
	braked    schedule.Share     // its part in the brake of its form
}

// set makes n the run of another node. It overwrites the run before.
func (n *nodeRun) set(r *run, of *plan.Plan, p *plan.NodePlan, result *report.NodeResult) {
	steps := n.steps
	steps.Set(p, !r.Options.DryRun && r.Options.Wait)
	*n = nodeRun{run: r, of: of, plan: p, result: result, steps: steps}
	n.requests = requests{cluster: r.Cluster, ctx: r.finishing, dryRun: r.Options.DryRun, dependencies: r.dependencies}
	n.record = record{inventories: r.Inventories, requests: &n.requests, plan: p, steps: &n.steps, finalizer: r.Options.Finalizer, version: r.Options.Version, saved: p.Inventory}
	n.decisions = decisions{requests: &n.requests, of: of, plan: p, record: &n.record, secrets: r.Secrets}
	n.deletion = deletion{requests: &n.requests, decisions: &n.decisions, record: &n.record, after: of.After}
	n.release = release{requests: &n.requests, decisions: &n.decisions, record: &n.record}
	n.hooks = hooks{requests: &n.requests, decisions: &n.decisions, record: &n.record, steps: &n.steps}
	n.tell = nodeReporter{reporter: r.Reporter, recorder: r.Recorder, now: r.Now, secrets: r.Secrets, dryRun: r.Options.DryRun, of: of, node: p, at: &n.record}
	n.ending.secrets = r.Secrets
	n.links = r.dependencies.Links(r.watching, p.Key(), n.wakeUp)
	rollout := r.rollouts[n.form()]
	n.waiter = waiter{
		tracker: r.tracker, requests: &n.requests, causes: r.Causes, watching: r.watching, hub: p.Hub.Name, wake: n.wakeUp, now: r.Now, tell: &n.tell, steps: &n.steps,
		waited: func(s *Step) time.Time { return n.status().waitedSince(s) },
		all:    r.Options.Wait, share: rollout.ShareOf(p), deadline: rollout.Limit(),
	}
	n.executor = executor{
		of: of, plan: p, form: n.form(), steps: &n.steps, requests: &n.requests, record: &n.record, decisions: &n.decisions, deletion: &n.deletion, release: &n.release, hooks: &n.hooks,
		waiter: &n.waiter, links: &n.links, tell: &n.tell, budget: r.budget, now: r.Now, ending: &n.ending,
	}
}

// stage returns the node's stage in the rollout of its form, or 0.
func (n *nodeRun) stage() int {
	stage, _ := n.run.rollouts[n.form()].StageOf(n.plan.Key())
	return stage
}

// form returns the form of the node's row.
func (n *nodeRun) form() schedule.Form { return schedule.Form{Hub: n.of.Hub, Form: n.plan.Form} }

// idle reports whether there is nothing to do or to report for the node.
func (n *nodeRun) idle() bool {
	if n.plan.Desired == nil || n.plan.Desired.Failed != nil || n.plan.Replacement != nil || n.plan.Inventory != nil && n.plan.Inventory.UID == "" {
		return false
	}
	if n.plan.Suspended {
		return false
	}
	leftOut := 0
	for i := range n.steps.Of {
		s := &n.steps.Of[i]
		if s.Reason == plan.ReasonLeftOut {
			s.Outcome = report.OutcomeUnchanged
			leftOut++
			continue
		}
		if n.plan.Inventory == nil || !s.UpToDate() || n.waiter.waits(s) && !s.Entry.Ready || n.steps.Purges(s) || n.record.lacks(s) {
			return false
		}
		s.Outcome = report.OutcomeUnchanged
	}
	if n.plan.Inventory == nil {
		return leftOut > 0
	}
	if leftOut == 0 && !n.record.saved.Status.Is(inventory.ConditionReady) && n.status().as(report.OutcomeUnchanged, nil).Is(inventory.ConditionReady) {
		return false // it is ready again, and the inventory must say so
	}
	return !n.plan.Renews(n.record.saved, n.record.finalizer)
}

// perform runs a node from begin to end. While it waits, its stack is nearly empty, so that
// the runtime can shrink it. Requests make stacks large, and thousands of nodes may wait.
func (n *nodeRun) perform(ctx context.Context) {
	n.began = n.run.Now().UTC().Truncate(time.Second)
	n.tell.report(report.Event{Type: report.EventNodeStart})
	if n.run.Worker != nil {
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

// begin saves the objects that the node will own. It returns false if the node failed.
func (n *nodeRun) begin(ctx context.Context) bool {
	if n.plan.Desired != nil && n.plan.Desired.Failed != nil {
		n.fail(n.plan.Desired.Failed)
		return false
	}
	n.wake = make(chan struct{}, 1)
	if n.plan.Desired == nil && !n.plan.Moves() && len(n.steps.Of) > 0 {
		n.tell.record(report.Normal, "LynqNodeDeleting", "lynqctl deletes the node, and its objects as their deletionPolicy says")
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
	if err := n.hooks.load(); err != nil {
		n.fail(err)
		return false
	}
	return true
}

// phase selects the steps that a node executes.
type phase uint8

const (
	phaseWanted  phase = iota // the desired objects
	phaseLeaving              // the objects to delete
	phaseLast                 // the objects that the garbage collector wouldn't delete
)

// has reports whether a step belongs to the phase.
func (p phase) has(s *Step) bool { return (s.Object != nil || s.Early) == (p == phaseWanted) }

// advance executes steps. It returns true when all are done, and false when the node must
// wait.
func (n *nodeRun) advance(ctx context.Context) bool {
	for n.carryOut(ctx) {
		switch n.phase {
		case phaseWanted:
			if s, err := n.hooks.complete(); err != nil {
				n.executor.failed(s, err)
			}
			if !n.steps.Worst().Well() {
				n.keepLeaving()
				return true
			}
			if n.plan.Desired != nil {
				n.run.dependencies.EndNode(n.plan.Key(), report.OutcomeDone.End()) // deletions may have to wait for nodes that wait for this one
			}
			n.phase = phaseLeaving
		case phaseLeaving:
			if n.steps.Worst().Well() && !n.record.gone() {
				n.steps.Uncollect()
			}
			n.phase = phaseLast
		default:
			return true
		}
	}
	return false
}

// carryOut executes the steps of the phase, each as soon as its dependencies are ready. It
// returns true if all have ended.
func (n *nodeRun) carryOut(ctx context.Context) bool {
	for {
		moved, waiting := false, false
		n.links.Forget()
		for i := range n.steps.Of {
			s := &n.steps.Of[i]
			if !n.phase.has(s) || s.State == Done {
				continue
			}
			switch {
			case s.State == Waiting:
				moved = n.executor.look(s) || moved
			case ctx.Err() != nil:
				n.executor.breakOff(s, report.OutcomeSkipped, "interrupted before lynqctl came to it")
				moved = true
			default:
				step := s.Step
				if n.ready(s) {
					n.executor.execute(ctx, s)
				}
				moved = moved || s.State != Pending || s.Step != step
			}
			waiting = waiting || s.State != Done
		}
		if ctx.Err() == nil && n.phase == phaseWanted && n.purge() {
			continue
		}
		switch {
		case !waiting:
			return true
		case moved:
		case n.steps.NextDeadline().IsZero() && !n.links.Elsewhere():
			n.giveUp()
		default:
			return false
		}
	}
}

// wait waits until something may have changed. Other nodes may use the slot meanwhile.
func (n *nodeRun) wait(ctx context.Context) {
	n.run.slots.Give()
	defer n.run.slots.Retake()
	var timeout <-chan time.Time
	if first := n.steps.NextDeadline(); !first.IsZero() {
		timer := time.NewTimer(max(0, first.Sub(n.run.Now())))
		defer timer.Stop()
		timeout = timer.C
	} else {
		rollout := n.run.rollouts[n.form()]
		rollout.Pause(n.waiter.share, n.plan.Key())
		defer rollout.Resume(n.waiter.share, n.plan.Key())
		n.run.brakes[n.form()].Pause(n.braked)
		defer n.run.brakes[n.form()].Resume(n.braked)
	}
	select {
	case <-n.wake:
	case <-timeout:
	case <-ctx.Done():
		n.interrupt()
	}
}

// giveUp ends steps that only wait for each other. For example, a Namespace depends on an
// object in it, or a kind on an object of that kind.
func (n *nodeRun) giveUp() {
	for i := range n.steps.Of {
		if s := &n.steps.Of[i]; n.phase.has(s) && s.State == Pending {
			n.executor.end(s, report.OutcomeFailed, "it waits for itself: a Namespace or CustomResourceDefinition of the node depends on an object that needs it (change dependIds or applyOrder)")
		}
	}
}

// interrupt ends all waits.
func (n *nodeRun) interrupt() {
	for i := range n.steps.Of {
		if s := &n.steps.Of[i]; s.State == Waiting {
			n.executor.carry(s, n.waiter.interrupted(s))
		}
	}
}

// purge begins to delete the objects with completed work. It returns false if there are
// none.
func (n *nodeRun) purge() bool {
	due := n.steps.ToPurge()
	if len(due) == 0 {
		return false
	}
	err := n.deletion.complete(due)
	for _, s := range due {
		m := fails(err)
		if err == nil {
			m = n.deletion.purge(s)
		}
		n.executor.carry(s, m)
	}
	return true
}

func (n *nodeRun) wakeUp() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// status makes the status that the inventory records.
func (n *nodeRun) status() *nodeStatus {
	return &nodeStatus{steps: &n.steps, before: n.plan.Inventory, began: n.began, now: n.run.Now()}
}
