package apply

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
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
	return n.plan.Desired == nil &&
		!slices.ContainsFunc(n.steps, func(s stepRun) bool { return s.entry != nil && !s.collected })
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
