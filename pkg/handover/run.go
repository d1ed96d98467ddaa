package handover

import (
	"context"
	"errors"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Runner carries a plan out. It is safe to end it anywhere: a record names too much
// then, and a LynqNode is there for longer than need be, and the next run goes on.
type Runner struct {
	Cluster     apply.Cluster
	Inventories apply.Inventories
	Reporter    apply.Reporter
	Now         func() time.Time
	// Concurrency is how many nodes are handed over at once.
	Concurrency int
	// DryRun has the server try the write of each object, and keeps nothing.
	DryRun bool
	Began  time.Time
	// Grace is how long requests under way may last after the run is interrupted.
	Grace time.Duration
}

// Run carries a plan out and tells how it went. Its error is the context's, where the
// run was interrupted; whatever failed is in the summary.
func (r *Runner) Run(ctx context.Context, p *Plan) (*apply.Summary, error) {
	finishing, end := r.finishing(ctx)
	defer end()
	run := &run{Runner: r, finishing: finishing, sum: newSummary()}
	for _, planned := range p.Plans(true) {
		run.sum.Hubs = append(run.sum.Hubs, planned.Hub)
		r.Reporter.Report(apply.Event{Time: r.Now(), Type: apply.EventPlan, Hub: planned.Hub, Counts: planned.Counts, Nodes: len(planned.Nodes)})
	}
	var running errgroup.Group
	running.SetLimit(max(1, r.Concurrency))
	for i := range p.Nodes {
		running.Go(func() error {
			if ctx.Err() == nil {
				n := nodeRun{run: run, plan: &p.Nodes[i]}
				n.perform(ctx)
			}
			return nil
		})
	}
	_ = running.Wait() // no function has an error
	s := run.sum.done()
	s.DryRun, s.Interrupted, s.Elapsed = r.DryRun, ctx.Err() != nil, r.Now().Sub(r.Began)
	r.Reporter.Report(apply.Event{Time: r.Now(), Type: apply.EventSummary, Summary: s})
	return s, context.Cause(ctx)
}

// finishing is a context that outlasts an interruption by the grace, unless the lock
// was lost: then others may write.
func (r *Runner) finishing(ctx context.Context) (context.Context, func()) {
	finishing, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		grace := r.Grace
		if lost := (*lease.LostError)(nil); errors.As(context.Cause(ctx), &lost) {
			grace = 0
		}
		timer := time.AfterFunc(grace, end)
		context.AfterFunc(finishing, func() { timer.Stop() })
	})
	return finishing, func() { stop(); end() }
}

type run struct {
	*Runner
	finishing context.Context
	sum       *summary
}

// nodeRun hands one node over.
type nodeRun struct {
	*run
	plan     *NodePlan
	record   types.UID
	problems []string
}

// perform hands the node over: its record, its objects, and, if all of those are
// lynqctl's, its LynqNode.
func (n *nodeRun) perform(ctx context.Context) {
	n.tell(apply.Event{Type: apply.EventNodeStart})
	if err := n.save(); err != nil {
		n.fail(n.plan.ref(), "", plan.ActionTrack, err)
		n.end(apply.OutcomeFailed)
		return
	}
	for i := range n.plan.Objects {
		o := &n.plan.Objects[i]
		switch {
		case ctx.Err() != nil:
			n.problems = append(n.problems, "interrupted (run it again)")
			n.end(apply.OutcomeSkipped)
			return
		case o.Verdict == Take:
			n.take(o)
		case o.Verdict == Failed:
			n.fail(o.Ref, o.ID, plan.ActionTrack, errors.New(o.Why))
		case o.Verdict == Left:
			n.object(o, plan.ActionSkip, apply.OutcomeSkipped, o.Why)
		default:
			n.sum.object(plan.ActionKeep, apply.OutcomeUnchanged)
		}
	}
	if len(n.problems) > 0 {
		n.problems = append(n.problems, stays)
		n.end(apply.OutcomeFailed)
		return
	}
	n.release()
}

// stays is what becomes of the LynqNode of a node that was not handed over whole.
const stays = "its LynqNode stays, and the next run goes on from here"

// save saves the record, before anything that it names is touched.
func (n *nodeRun) save() error {
	n.record = types.UID(n.plan.Inventory.UID)
	if n.DryRun || !n.plan.Save {
		return nil
	}
	saved, err := n.Inventories.Save(n.finishing, n.plan.Inventory)
	if err != nil {
		return err
	}
	n.record = types.UID(saved.UID)
	return nil
}

// take takes an object over.
func (n *nodeRun) take(o *Object) {
	changed, err := n.write(o)
	switch {
	case err != nil:
		n.fail(o.Ref, o.ID, plan.ActionTrack, err)
	case changed:
		n.object(o, plan.ActionTrack, apply.OutcomeDone, "")
	default:
		n.sum.object(plan.ActionKeep, apply.OutcomeUnchanged)
	}
}

// release removes the LynqNode.
func (n *nodeRun) release() {
	ref := n.plan.ref()
	if err := n.removeNode(); err != nil {
		n.fail(ref, "", plan.ActionRelease, err)
		n.end(apply.OutcomeFailed)
		return
	}
	n.sum.object(plan.ActionRelease, apply.OutcomeDone)
	n.tell(apply.Event{Type: apply.EventObject, Object: ref, Action: plan.ActionRelease, Reason: ReasonHandover, Outcome: apply.OutcomeDone})
	n.end(apply.OutcomeDone)
}

func (n *nodeRun) object(o *Object, a plan.Action, outcome apply.Outcome, why string) {
	n.sum.object(a, outcome)
	n.tell(apply.Event{Type: apply.EventObject, Object: o.Ref, ID: o.ID, Action: a, Reason: o.reason(), Outcome: outcome, Message: why})
}

func (n *nodeRun) fail(ref lynq.Ref, id string, a plan.Action, err error) {
	n.problems = append(n.problems, ref.String()+": "+err.Error())
	n.sum.object(a, apply.OutcomeFailed)
	n.tell(apply.Event{Type: apply.EventObject, Object: ref, ID: id, Action: a, Outcome: apply.OutcomeFailed, Message: err.Error()})
}

// end tells how the node ended.
func (n *nodeRun) end(o apply.Outcome) {
	n.sum.node(n.plan, o, n.problems)
	n.tell(apply.Event{Type: apply.EventNode, Outcome: o, Message: strings.Join(n.problems, "; ")})
}

func (n *nodeRun) tell(e apply.Event) {
	e.Time, e.Hub, e.Node = n.Now(), n.plan.hubKey(), n.plan.Key()
	n.Reporter.Report(e)
}
