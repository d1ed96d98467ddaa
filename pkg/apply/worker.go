package apply

import (
	"context"
	"errors"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Worker does what plans say of nodes in a way of its own. All else of a run stays with
// the Runner: which nodes are at work, what is told and counted, and how long requests
// outlast an interruption.
type Worker interface {
	// Work carries a node out, and tells it of each step that has ended. Its error says
	// why the node did not come to its end; what went wrong with a step is not in it.
	Work(ctx context.Context, n *Node) error
}

// Node is a node of a run, in the hands of a Worker.
type Node struct {
	Key     lynq.NodeKey
	Cluster Cluster
	// DryRun has the server try each write without keeping it.
	DryRun bool
	// Finishing is for requests: it outlasts an interruption by the grace.
	Finishing context.Context
	node      *nodeRun
}

// Ended says how a step ended, and by which action: it may be another one than the
// plan's.
type Ended struct {
	Action  plan.Action
	Reason  reason.Reason
	Outcome report.Outcome
	Message string // for people; may say what to do
}

// Save saves the inventory of the node, as far as runs save any.
func (n *Node) Save(inv *inventory.Inventory) (*inventory.Inventory, error) {
	if n.DryRun {
		return inv, nil
	}
	return n.node.record.inventories.Save(n.Finishing, inv)
}

// End tells how a step ended, by its index in the plan.
func (n *Node) End(step int, e Ended) {
	s := &n.node.steps.Of[step]
	s.Becomes(s.As(e.Action, e.Reason))
	n.node.carrier.end(s, e.Outcome, e.Message)
}

// handOut has the Worker carry a node out.
func (n *nodeRun) handOut(ctx context.Context) {
	err := n.run.Worker.Work(ctx, &Node{n.plan.Key(), n.run.Cluster, n.requests.dryRun, n.requests.ctx, n})
	outcome := n.steps.Worst()
	switch {
	case err == nil:
	case errors.Is(err, context.Cause(ctx)):
		n.ending.says("interrupted (run it again)")
		outcome = report.OutcomeInterrupted
	default:
		n.ending.says(err.Error())
		outcome = report.OutcomeFailed
	}
	n.endNode(outcome)
}
