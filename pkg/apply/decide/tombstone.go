package decide

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// CheckTombstones refuses tombstones for objects that forms of the run render or an
// inventory lists. Policies decide about these. plans are the plans of all hubs.
func CheckTombstones(stones []plan.Tombstone, plans []plan.Plan) error {
	if len(stones) == 0 {
		return nil // without a look at all objects
	}
	rendered, recorded := map[lynq.Ref]lynq.NodeKey{}, map[lynq.Ref]lynq.NodeKey{}
	for i := range plans {
		d := rulesOf(&plans[i])
		if d == nil {
			continue
		}
		if survey := d.in.Desired.Elsewhere; survey != nil {
			for ref, r := range survey.renders {
				rendered[ref] = r[0].node
			}
		}
		maps.Copy(rendered, d.desired())
		for _, inv := range d.in.Recorded.Inventories {
			for _, r := range inv.Entries {
				recorded[r.Ref] = inv.Node.Key()
			}
		}
	}
	var problems lynq.Problems
	first := map[lynq.Ref]*plan.Tombstone{}
	for i := range stones {
		t := &stones[i]
		node, wanted := rendered[t.Ref]
		owner, has := recorded[t.Ref]
		switch other := first[t.Ref]; {
		case wanted:
			problems.Add(t.Pos, "remove one of the two", "tombstone %s: node %s renders this object", t.Ref, node)
		case has:
			problems.Add(t.Pos, "remove the tombstone; lynqctl deletes dropped objects by their deletionPolicy", "tombstone %s: the inventory of node %s has this object", t.Ref, owner)
		case other != nil && !maps.Equal(other.Labels, t.Labels):
			problems.Add(t.Pos, "write the same labels", "tombstone %s: another one for it has other labels, at %s", t.Ref, other.Pos)
		}
		first[t.Ref] = t
	}
	return problems.Sorted().Err()
}

// Tombstones plans the deletion of objects that the tombstones of a hub name. It keeps
// objects that rows of the run's plans render or forms exclude. It has no step for an
// object that doesn't exist or has an unserved kind. It is a pure function.
func Tombstones(hub lynq.HubKey, stones []plan.Tombstone, plans []plan.Plan, includeData bool) *plan.Plan {
	d := rulesFor(hub, plans)
	nodes := map[lynq.NodeKey]*plan.NodePlan{}
	done := map[lynq.Ref]bool{}
	for i := range stones {
		t := &stones[i]
		if done[t.Ref] || t.Live == nil && t.Unknown == nil {
			continue
		}
		done[t.Ref] = true
		key := t.Node
		if key == (lynq.NodeKey{}) {
			key = lynq.NodeKey{Namespace: hub.Namespace, Name: plan.TombstonesNode}
		}
		if nodes[key] == nil {
			nodes[key] = &plan.NodePlan{NodeID: lynq.NodeID{Hub: hub, Namespace: key.Namespace, Name: key.Name}}
		}
		nodes[key].Steps = append(nodes[key].Steps, d.tombstone(t, plans, includeData))
	}
	p := &plan.Plan{Hub: hub, After: true, Rules: d}
	for _, key := range slices.SortedFunc(maps.Keys(nodes), func(a, b lynq.NodeKey) int { return cmp.Compare(a.String(), b.String()) }) {
		p.Nodes = append(p.Nodes, *nodes[key])
	}
	p.Count()
	tellContents(p)
	return p
}

// rulesFor returns the rules behind the plan of a hub. Without such a plan it returns the
// rules of an empty one.
func rulesFor(hub lynq.HubKey, plans []plan.Plan) *decider {
	i := slices.IndexFunc(plans, func(p plan.Plan) bool { return p.Hub == hub && p.Rules != nil && !p.After })
	if i < 0 {
		return newDecider(&Input{Hub: hub})
	}
	return rulesOf(&plans[i])
}

// tombstone plans one object. The labels of the tombstone decide, and not the owner. But a
// tombstone never deletes a record or an object of an inventory.
func (d *decider) tombstone(t *plan.Tombstone, plans []plan.Plan, includeData bool) plan.Step {
	s := plan.Step{
		Action: plan.ActionDelete, Reason: plan.ReasonTombstone, Live: t.Live, Exact: true, Stone: &t.Tombstone, IncludeData: includeData,
		Entry: &inventory.Entry{Ref: t.Ref, APIVersion: t.APIVersion, Lifecycle: lynq.Lifecycle{Data: t.TakesClaims}},
	}
	if t.Live == nil {
		s.Message = t.Unknown.Error()
		return s
	}
	if rule := exclusionOf(t, plans); rule != nil {
		s.Action, s.Reason, s.Message = plan.ActionSkip, plan.ReasonExcluded, excludedBy(rule)
		return s
	}
	if ask(&s, d, askerTombstone); s.Action == plan.ActionDelete {
		s.Message = fmt.Sprintf("tombstone at %s", t.Pos)
	}
	return s
}

// exclusionOf returns the rule that excludes the object of a tombstone, or nil. For a
// tombstone of a form, that form's rules count. For a tombstone of a file, the rules of all
// forms count.
func exclusionOf(t *plan.Tombstone, plans []plan.Plan) *lynq.Exclusion {
	for i := range plans {
		d := rulesOf(&plans[i])
		if d == nil || plans[i].After {
			continue
		}
		for _, f := range d.in.Desired.Forms {
			if n := d.nodes[t.Node]; t.Node != (lynq.NodeKey{}) && (n == nil || n.Form != f) {
				continue
			}
			if rule := d.in.Desired.Exclude[f].Find(t.Ref); rule != nil {
				return rule
			}
		}
	}
	return nil
}

// ask asks the gate about an object without a node: an orphan, or an object of a tombstone.
func ask(s *plan.Step, d *decider, who asker) {
	a := d.gate(&question{
		asker: who, entry: s.Entry, live: s.Live, why: s.Reason, adopted: s.Adopted,
		data: (s.Entry.HoldsData() || d.holdsDataAs(s.Entry.Ref, s.Live)) && !s.IncludeData, stone: s.Stone,
	})
	s.Action, s.Reason, s.Message = a.Action, a.Reason, a.Message
}
