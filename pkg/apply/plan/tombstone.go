package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Tombstone is an object that is to go beside those of nodes, and what was seen of it.
type Tombstone struct {
	lynq.Tombstone
	// Node is whose form names it, zero for a tombstone of a file. It is deleted when
	// that node, or for a file all nodes that are wanted, ended well.
	Node NodeKey
	// Live has the labels of the object, too.
	Live *Live
	// Unknown is why it could not be looked at.
	Unknown error
	// Unserved: its kind is not served. There is nothing to delete, for now.
	Unserved bool
}

// Gone tells whether the object was looked for, and is not there.
func (t *Tombstone) Gone() bool { return t.Live == nil && t.Unknown == nil && !t.Unserved }

// TombstonesNode stands for the node of the tombstones that come from files.
const TombstonesNode = "tombstones"

// CheckTombstones refuses tombstones of what the forms of the run render, or what an
// inventory has: those objects go by their policies. Plans are those of all hubs.
func CheckTombstones(stones []Tombstone, plans []Plan) error {
	rendered, recorded := map[lynq.Ref]NodeKey{}, map[lynq.Ref]NodeKey{}
	for i := range plans {
		if plans[i].rules == nil {
			continue
		}
		if survey := plans[i].rules.Elsewhere; survey != nil {
			for ref, r := range survey.renders {
				rendered[ref] = r.node
			}
		}
		maps.Copy(rendered, plans[i].rules.desired)
		for _, inv := range plans[i].rules.Inventories {
			for _, r := range inv.Entries {
				recorded[r.Ref] = NodeKey{inv.Namespace, inv.Node}
			}
		}
	}
	var problems lynq.Problems
	first := map[lynq.Ref]*Tombstone{}
	for i := range stones {
		t := &stones[i]
		node, wanted := rendered[t.Ref]
		owner, has := recorded[t.Ref]
		switch other := first[t.Ref]; {
		case wanted:
			problems.Add(t.Pos, "remove one of the two", "tombstone %s: node %s renders this object", t.Ref, node)
		case has:
			problems.Add(t.Pos, "remove the tombstone; what the form drops goes by its deletionPolicy", "tombstone %s: the inventory of node %s has this object", t.Ref, owner)
		case other != nil && !maps.Equal(other.Labels, t.Labels):
			problems.Add(t.Pos, "write the same labels", "tombstone %s: there is another one for it with other labels, at %s", t.Ref, other.Pos)
		}
		first[t.Ref] = t
	}
	return problems.Sorted().Err()
}

// Tombstones plans what becomes of the objects that tombstones of a hub name. plans are
// those of the run: what their rows render and their forms exclude is kept. What is gone,
// or is not known to the server, has no step. It is a pure function.
func Tombstones(hub lynq.HubKey, stones []Tombstone, plans []Plan, includeData bool) *Plan {
	d := rulesFor(hub, plans)
	nodes := map[NodeKey]*NodePlan{}
	done := map[lynq.Ref]bool{}
	for i := range stones {
		t := &stones[i]
		if done[t.Ref] || t.Live == nil && t.Unknown == nil {
			continue
		}
		done[t.Ref] = true
		key := t.Node
		if key == (NodeKey{}) {
			key = NodeKey{hub.Namespace, TombstonesNode}
		}
		if nodes[key] == nil {
			nodes[key] = &NodePlan{NodeKey: key, Hub: hub.Name, HubNamespace: hub.Namespace}
		}
		nodes[key].Steps = append(nodes[key].Steps, d.tombstone(t, plans, includeData))
	}
	p := &Plan{Hub: hub, After: true, rules: d}
	for _, key := range slices.SortedFunc(maps.Keys(nodes), func(a, b NodeKey) int { return cmp.Compare(a.String(), b.String()) }) {
		p.Nodes = append(p.Nodes, *nodes[key])
	}
	p.Count()
	return p
}

// rulesFor are the rules that the plan of a hub was made by, of an empty plan where there
// is none.
func rulesFor(hub lynq.HubKey, plans []Plan) *decider {
	i := slices.IndexFunc(plans, func(p Plan) bool { return p.Hub == hub && p.rules != nil && !p.After })
	if i < 0 {
		return newDecider(&Input{Hub: hub.Name, HubNamespace: hub.Namespace})
	}
	return plans[i].rules
}

// tombstone plans one object. Its owner does not matter where the object has the labels,
// except that a tombstone never deletes a record, nor an object of an inventory.
func (d *decider) tombstone(t *Tombstone, plans []Plan, includeData bool) Step {
	s := Step{
		Action: ActionDelete, Reason: ReasonTombstone, Live: t.Live, Exact: true, Stone: &t.Tombstone, IncludeData: includeData,
		Entry: &inventory.Entry{Ref: t.Ref, APIVersion: t.APIVersion},
	}
	if t.Live == nil {
		s.Message = t.Unknown.Error()
		return s
	}
	if rule := exclusionOf(t, plans); rule != nil {
		s.Action, s.Reason, s.Message = ActionSkip, ReasonExcluded, excludedBy(rule)
		return s
	}
	if s.ask(d, AskerTombstone); s.Action == ActionDelete {
		s.Message = fmt.Sprintf("tombstone at %s", t.Pos)
	}
	return s
}

// exclusionOf is the rule that excludes the object of a tombstone, nil for none: of the
// form that has the tombstone, or, for a tombstone of a file, of any form.
func exclusionOf(t *Tombstone, plans []Plan) *lynq.Exclusion {
	for i := range plans {
		d := plans[i].rules
		if d == nil || plans[i].After {
			continue
		}
		for _, f := range d.Forms {
			if n := d.nodes[t.Node]; t.Node != (NodeKey{}) && (n == nil || n.formKey() != f) {
				continue
			}
			if rule := d.Exclude[f].Find(t.Ref); rule != nil {
				return rule
			}
		}
	}
	return nil
}

// ask asks the gate for an object that no node has: an orphan, or one that a tombstone
// names.
func (s *Step) ask(d *decider, who Asker) {
	a := d.gate(&question{
		asker: who, entry: s.Entry, live: s.Live, why: s.Reason, adopted: s.Adopted,
		data: s.Entry.HoldsData() && !s.IncludeData, stone: s.Stone,
	})
	s.Action, s.Reason, s.Message = a.Action, a.Reason, a.Message
}
