package decide

import (
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// refuseChanges returns the guards' refusals because of changes to kept nodes.
func (g guards) refuseChanges(p *plan.Plan, l Limits) []plan.Refusal {
	var refusals []plan.Refusal
	for _, c := range g.in.Desired.Evidence.Emptied() {
		if slices.Contains(l.EmptyColumns, c.Name) || !slices.Contains(g.in.Desired.Used, c.Name) {
			continue
		}
		refusals = append(refusals, plan.Refusal{
			Guard: plan.GuardEmptyColumn, Hub: g.in.Hub,
			What: fmt.Sprintf("column %q is suddenly empty in %d of %s", c.Name, c.Emptied, phrase.Count(g.in.Desired.Evidence.Rows.Compared, "row")),
			Fix:  "check the source; to do this anyway, pass --allow-empty-column=" + c.Name,
		})
	}
	switch {
	case l.MaxChange != nil:
		refusals = append(refusals, g.refuseMany(p, *l.MaxChange, 0, "would change", g.changes)...)
	case l.MaxRowChange != nil && g.rowsDiffer(*l.MaxRowChange):
		refusals = append(refusals, g.refuseMany(p, *l.MaxRowChange, fewNodes, "would change, only because their rows did", g.changesByRow)...)
	}
	return refusals
}

// fewNodes is the number of rows and of nodes below which MaxRowChange doesn't apply, as in
// octoDNS: a person changes half of a few nodes in one edit, or names them with --node.
const fewNodes = 10

// rowsDiffer reports whether so many rows changed that this can be the reason for a refusal. If
// somebody changed the condition of the source or its lookups, the rows aren't the reason.
//
// A note may miss changed values, so half of the limit is enough. The plan has the exact number
// of nodes. A new version of lynqctl may change all nodes, but no row.
func (g guards) rowsDiffer(most limits.MaxDelete) bool {
	e := g.in.Desired.Evidence
	return e != nil && e.Where == nil && len(e.Lookups)+len(e.NewColumns)+len(e.GoneColumns) == 0 &&
		e.Rows != nil && e.Rows.Compared >= fewNodes && 2*e.Rows.Changed > most.Of(e.Rows.Compared)
}

// refuseMany refuses a plan of at least some nodes if more of them change than may. words say
// what happens to them.
func (g guards) refuseMany(p *plan.Plan, most limits.MaxDelete, least int, words string, changes func(*plan.NodePlan, *plan.Step) bool) []plan.Refusal {
	changing, recorded := 0, 0
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if !g.mayChange(n) {
			continue
		}
		recorded++
		if slices.ContainsFunc(n.Steps, func(s plan.Step) bool { return changes(n, &s) }) {
			changing++
		}
	}
	limit := most.Of(recorded)
	if recorded < least || changing <= limit {
		return nil
	}
	return []plan.Refusal{{
		Guard: plan.GuardMaxChange, Hub: g.in.Hub,
		What: fmt.Sprintf("%d of %s %s, the limit is %d (--max-change=%s)", changing, phrase.Count(recorded, "node"), words, limit, most),
		Fix:  fmt.Sprintf("check the changes with lynqctl diff; to do this anyway, pass --max-change=%d", changing),
	}}
}

// changes reports whether a step changes the content of an object.
func (g guards) changes(n *plan.NodePlan, s *plan.Step) bool {
	return s.ChangesContent() && !g.d.onlyMoves(n, s)
}

// changesByRow reports whether a step changes the content of an object only because the
// values of its row changed: its template is that of the last write.
func (g guards) changesByRow(n *plan.NodePlan, s *plan.Step) bool {
	return g.changes(n, s) && s.Reason == plan.ReasonChanged && s.Object != nil && s.Entry != nil && s.Entry.Template != "" && s.Entry.Template == s.Object.Template
}

// mayChange reports whether a node counts in the base of max-change's percentage. It does
// if a row renders it and it has an inventory. A node that can't be planned doesn't count.
// Otherwise anybody who may write inventories could add such nodes and allow more changes.
func (g guards) mayChange(n *plan.NodePlan) bool {
	there := n.Inventory != nil || len(g.d.earlier[n.Key()]) > 0
	return there && n.Desired != nil && n.Desired.Failed == nil && g.in.Scope.Names(n.Name)
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
