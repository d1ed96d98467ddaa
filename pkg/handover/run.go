package handover

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Worker hands over what a plan says, in a run of package apply. It is safe to end it
// anywhere: a record names too much then, and a LynqNode is there for longer than need
// be, and the next run goes on.
type Worker struct {
	nodes map[lynq.NodeKey]*NodePlan
}

// NewWorker makes a Worker for a plan, which a Runner carries out as Plans().
func NewWorker(p *Plan) *Worker {
	w := &Worker{nodes: map[lynq.NodeKey]*NodePlan{}}
	for i := range p.Nodes {
		w.nodes[p.Nodes[i].Key()] = &p.Nodes[i]
	}
	return w
}

// ForgetLynqNodes takes out of a result what became of the LynqNodes themselves.
func ForgetLynqNodes(r *report.Result) {
	for i := range r.Nodes {
		n := &r.Nodes[i]
		n.Steps = slices.DeleteFunc(n.Steps, func(s report.StepResult) bool { return s.Object == nil })
	}
}

// errStays is what becomes of the LynqNode of a node that was not handed over whole.
var errStays = errors.New("its LynqNode stays, and the next run goes on from here")

// Work hands a node over: its record, its objects, and, if all of those are lynqctl's,
// its LynqNode.
func (w *Worker) Work(ctx context.Context, of *apply.Node) error {
	n := nodeHandover{Node: of, plan: w.nodes[of.Key]}
	if err := n.save(); err != nil {
		return err
	}
	whole := true
	for i := range n.plan.Objects {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		ended := n.object(&n.plan.Objects[i])
		n.End(i, ended)
		whole = whole && ended.Outcome != report.OutcomeFailed
	}
	if !whole {
		return errStays
	}
	n.End(len(n.plan.Objects), n.release())
	return nil
}

// nodeHandover is one node that is handed over.
type nodeHandover struct {
	*apply.Node
	plan   *NodePlan
	record types.UID
}

// save saves the record, before anything that it names is touched.
func (n *nodeHandover) save() error {
	saved := n.plan.Inventory
	if n.plan.Save {
		var err error
		if saved, err = n.Save(saved); err != nil {
			return err
		}
	}
	n.record = types.UID(saved.UID)
	return nil
}

// object does with an object what the plan says.
func (n *nodeHandover) object(o *Object) apply.Ended {
	switch o.Verdict {
	case Take:
		return n.take(o)
	case Failed:
		return failed(plan.ActionTrack, errors.New(o.Why))
	case Left:
		return apply.Ended{Action: plan.ActionSkip, Reason: o.reason(), Outcome: report.OutcomeSkipped, Message: o.Why}
	}
	return apply.Ended{Action: plan.ActionKeep, Reason: o.reason(), Outcome: report.OutcomeUnchanged}
}

// take takes an object over.
func (n *nodeHandover) take(o *Object) apply.Ended {
	changed, err := n.write(o)
	switch {
	case err != nil:
		return failed(plan.ActionTrack, err)
	case changed:
		return apply.Ended{Action: plan.ActionTrack, Reason: ReasonHandover, Outcome: report.OutcomeDone}
	}
	return apply.Ended{Action: plan.ActionKeep, Reason: plan.ReasonUpToDate, Outcome: report.OutcomeUnchanged}
}

// release removes the LynqNode.
func (n *nodeHandover) release() apply.Ended {
	if err := n.removeNode(); err != nil {
		return failed(plan.ActionRelease, err)
	}
	return apply.Ended{Action: plan.ActionRelease, Reason: ReasonHandover, Outcome: report.OutcomeDone}
}

// failed is the end of what could not be done. Why says more than a reason.
func failed(a plan.Action, err error) apply.Ended {
	return apply.Ended{Action: a, Outcome: report.OutcomeFailed, Message: err.Error()}
}
