package decide

import (
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// refuseChanges returns the guards' refusals because of changes to kept nodes.
func (g guards) refuseChanges(p *plan.Plan, l Limits) []plan.Refusal {
	var refusals []plan.Refusal
	for _, c := range g.in.Evidence.Emptied() {
		if slices.Contains(l.EmptyColumns, c.Name) || !slices.Contains(g.in.Used, c.Name) {
			continue
		}
		refusals = append(refusals, plan.Refusal{
			Guard: plan.GuardEmptyColumn, Hub: g.in.Hub,
			What: fmt.Sprintf("column %q is suddenly empty in %d of %s", c.Name, c.Emptied, phrase.Count(g.in.Evidence.Rows.Compared, "row")),
			Fix:  "check the source; to do this anyway, pass --allow-empty-column=" + c.Name,
		})
	}
	if l.MaxChange == nil {
		return refusals
	}
	changing, recorded := 0, 0
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if !g.mayChange(n) {
			continue
		}
		recorded++
		if slices.ContainsFunc(n.Steps, func(s plan.Step) bool { return s.ChangesContent() && !g.d.onlyMoves(n, &s) }) {
			changing++
		}
	}
	if limit := l.MaxChange.Of(recorded); changing > limit {
		refusals = append(refusals, plan.Refusal{
			Guard: plan.GuardMaxChange, Hub: g.in.Hub,
			What: fmt.Sprintf("%d of %s would change, the limit is %d (--max-change=%s)", changing, phrase.Count(recorded, "node"), limit, l.MaxChange),
			Fix:  fmt.Sprintf("check the changes with lynqctl diff; to do this anyway, pass --max-change=%d", changing),
		})
	}
	return refusals
}

// mayChange reports whether a node counts in the base of max-change's percentage. It does
// if a row renders it and it has an inventory. A node that can't be planned doesn't count.
// Otherwise anybody who may write inventories could add such nodes and allow more changes.
func (g guards) mayChange(n *plan.NodePlan) bool {
	there := n.Inventory != nil || len(g.d.earlier[n.Key()]) > 0
	return there && n.Desired != nil && n.Desired.Failed == nil && (g.in.Only == nil || g.in.Only[n.Name])
}

// onlyMoves reports whether a step changes only the node that owns an object.
func (d *decider) onlyMoves(n *plan.NodePlan, s *plan.Step) bool {
	if s.Reason != plan.ReasonMoved {
		return false
	}
	return slices.ContainsFunc(d.earlier[n.Key()], func(inv *inventory.Inventory) bool {
		r, found := inventory.Find(inv.Entries, s.Object.Ref)
		before, err := s.Object.DigestIn(inv.Node.Full().Hub, inv.Node.Key())
		return found && err == nil && before != "" && before == r.Digest
	})
}
