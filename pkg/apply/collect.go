package apply

import (
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// uncollect has what was left to the garbage collector deleted after all, where
// the inventory stays though all else is done with: it would never be collected.
func (n *nodeRun) uncollect() {
	if severity(n.worst()) > severity(OutcomeDone) || n.gone() {
		return
	}
	for i := range n.steps {
		if s := &n.steps[i]; s.collected {
			again := *s.Step
			again.Action = plan.ActionDelete
			s.Step, s.state, s.collected = &again, stepPending, false
		}
	}
}

// gone tells whether nothing keeps the inventory of a node that goes.
func (n *nodeRun) gone() bool {
	return n.plan.Desired == nil && len(n.left()) == 0
}

// left are the entries of objects that the node still has, except those that were left to
// the garbage collector.
func (n *nodeRun) left() []inventory.Entry {
	var left []inventory.Entry
	for i := range n.steps {
		if s := &n.steps[i]; s.entry != nil && !s.collected {
			left = append(left, *s.entry)
		}
	}
	return left
}

// endCollected tells of what was left to the garbage collector: it goes with the
// inventory, and only then.
func (n *nodeRun) endCollected(inventoryGone bool) {
	for i := range n.steps {
		switch s := &n.steps[i]; {
		case !s.collected:
		case inventoryGone:
			n.end(s, OutcomeDone, "")
		default:
			n.end(s, OutcomeSkipped, "it stays until the node's inventory is gone")
		}
	}
}
