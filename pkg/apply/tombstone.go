package apply

import (
	"context"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// after runs the plans that come after the others, for nodes that succeeded. Deleted nodes
// don't count, because they render no replacement for a tombstone's object. Objects without
// a node wait for all nodes.
func (r *run) after(ctx context.Context, plans []plan.Plan, results []report.NodeResult) {
	nodes := 0
	for i := range plans {
		nodes += len(plans[i].Nodes)
	}
	before, after := results[:len(results)-nodes], results[len(results)-nodes:]
	unwell := map[lynq.NodeKey]bool{}
	for i := range before {
		if n := &before[i]; !n.Leaves && !n.Outcome.Well() {
			unwell[n.Key()] = true
		}
	}
	for _, queue := range r.queues(plans, after) {
		r.dispatch(ctx, slices.DeleteFunc(queue, func(n *nodeRun) bool {
			waits := unwell[n.plan.Key()] || n.plan.Name == plan.TombstonesNode && len(unwell) > 0
			if waits {
				n.leftOut(report.OutcomeSkipped, "lynqctl deletes its tombstones when it is ready")
			}
			return waits
		}))
	}
}
