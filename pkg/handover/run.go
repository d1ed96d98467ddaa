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

// Worker carries a plan out in a run of package apply. A run may end anywhere. Then an
// inventory may have too many entries, a LynqNode may stay longer than necessary, and the
// next run continues.
type Worker struct {
	nodes map[lynq.NodeKey]*NodePlan
}

// NewWorker returns a Worker for a plan. Its Runner gets the same plan as Plans().
func NewWorker(p *Plan) *Worker {
	w := &Worker{nodes: map[lynq.NodeKey]*NodePlan{}}
	for i := range p.Nodes {
		w.nodes[p.Nodes[i].Key()] = &p.Nodes[i]
	}
	return w
}

// ForgetLynqNodes removes the results of the LynqNodes themselves from a result.
func ForgetLynqNodes(r *report.Result) {
	for i := range r.Nodes {
		n := &r.Nodes[i]
		n.Steps = slices.DeleteFunc(n.Steps, func(s report.StepResult) bool { return s.Object == nil })
	}
}

// errStays says that a LynqNode stays, because lynqctl couldn't take all of its objects over.
var errStays = errors.New("its LynqNode stays, and the next run goes on from here")

// Work saves a node's inventory and takes its objects over. If it could take all of them, it
// deletes the LynqNode.
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

// nodeHandover is the handover of one node.
type nodeHandover struct {
	*apply.Node
	plan   *NodePlan
	record types.UID
}

// save saves the inventory before the first object changes.
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

// object carries the step of an object out.
func (n *nodeHandover) object(o *Object) apply.Ended {
	switch s := &o.Step; s.Action {
	case plan.ActionTrack:
		return n.take(o)
	case plan.ActionBlock:
		return failed(plan.ActionTrack, errors.New(s.Message))
	case plan.ActionSkip:
		return apply.Ended{Action: s.Action, Reason: s.Reason, Outcome: report.OutcomeSkipped, Message: s.Message}
	default:
		return apply.Ended{Action: plan.ActionKeep, Reason: s.Reason, Outcome: report.OutcomeUnchanged}
	}
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

// failed is the end of a step that failed. The error says more than a reason.
func failed(a plan.Action, err error) apply.Ended {
	return apply.Ended{Action: a, Outcome: report.OutcomeFailed, Message: err.Error()}
}
