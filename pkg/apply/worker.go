package apply

import (
	"context"
	"errors"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Worker executes the plans of nodes in its own way. The Runner still schedules nodes,
// reports and counts results, and limits requests after an interruption.
type Worker interface {
	// Work executes a node, and calls End for each step that has ended. The error says why
	// the node stopped early. Problems of single steps aren't part of it.
	Work(ctx context.Context, n *Node) error
}

// Node is a node of a run for a Worker.
type Node struct {
	Key     lynq.NodeKey
	Cluster Cluster
	// DryRun makes the server try each write without keeping it.
	DryRun bool
	// Finishing is the context for requests. It continues for the grace period after an
	// interruption.
	Finishing context.Context
	node      *nodeRun
}

// Ended is the result of a step. Its action may differ from the plan's.
type Ended struct {
	Action  plan.Action
	Reason  plan.Reason
	Outcome report.Outcome
	Message string // for people, and may say what to do
}

// Save saves the inventory of the node, except in a dry run.
func (n *Node) Save(inv *inventory.Inventory) (*inventory.Inventory, error) {
	if n.DryRun {
		return inv, nil
	}
	return saveOn(n.Finishing, n.node.record.inventories, n.node.record.saved, inv)
}

// End sets the result of a step, given by its index in the plan.
func (n *Node) End(step int, e Ended) {
	s := &n.node.steps.Of[step]
	s.Becomes(s.As(e.Action, e.Reason))
	n.node.executor.end(s, e.Outcome, e.Message)
}

// handOut makes the Worker execute a node.
func (n *nodeRun) handOut(ctx context.Context) {
	err := n.run.Worker.Work(ctx, &Node{n.plan.Key(), n.run.Cluster, n.requests.dryRun, n.requests.ctx, n})
	outcome := n.steps.Worst()
	switch {
	case err == nil:
	case errors.Is(err, context.Cause(ctx)), n.requests.cut(err):
		n.ending.says("interrupted (run it again)")
		outcome = report.OutcomeInterrupted
	default:
		n.ending.says(err.Error())
		outcome = report.OutcomeFailed
	}
	n.endNode(outcome)
}
