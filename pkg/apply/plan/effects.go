package plan

import (
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Findings returns the changes of plans that a reviewer must know, as far as plans know them.
// A plan has no values of fields.
func Findings(plans []Plan) *changeset.Set {
	var changes []changeset.Change
	nodes := 0
	for i := range plans {
		nodes += len(plans[i].Nodes)
		for k := range plans[i].Nodes {
			n := &plans[i].Nodes[k]
			for j := range n.Steps {
				s := &n.Steps[j]
				c := changeset.Change{Node: &n.NodeID, Ref: s.Ref(), ID: s.ID(), Action: string(s.Action)}
				var next map[string]any
				if s.Object != nil {
					next = map[string]any{}
				}
				if c.Findings = changeset.Find(&c, s.Effects(), next); len(c.Findings) > 0 {
					changes = append(changes, c)
				}
			}
		}
	}
	return changeset.Of(changes, nodes)
}

// Effects returns what a step does beside changing fields.
func (s *Step) Effects() changeset.Effects {
	leaves := s.Object == nil && (s.Action == ActionDelete || s.Action == ActionCollect)
	e := changeset.Effects{
		Contents:  leaves && tracking.TakesAlong(s.Ref()) != "",
		Data:      (leaves || s.Action == ActionRecreate) && s.Entry != nil && s.Entry.HoldsData(),
		Recreates: s.Action == ActionRecreate,
	}
	if s.Object == nil || s.Object.Policy == nil || s.Entry == nil {
		return e
	}
	was, is := &s.Entry.Lifecycle, &s.Object.Policy.Lifecycle
	e.Unkept = is.Deletion.Kept().Less(was.Deletion.Kept())
	e.Unheld = s.Entry.HoldsData() && !s.Object.HoldsData()
	e.Rewritten = was.Creation.Once() && !is.Creation.Once()
	e.Forced = was.Conflict == lynq.ConflictStuck && is.Conflict == lynq.ConflictForce
	return e
}
