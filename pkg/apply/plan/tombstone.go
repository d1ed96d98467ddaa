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
	Live *Live
	// Found are the labels of the live object.
	Found map[string]string
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

// Tombstones plans what becomes of the objects that tombstones of a hub name. What is
// gone, or is not known to the server, has no step. It is a pure function.
func Tombstones(hub lynq.HubKey, stones []Tombstone, includeData bool) *Plan {
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
		nodes[key].Steps = append(nodes[key].Steps, t.step(includeData))
	}
	p := &Plan{Hub: hub, After: true}
	for _, key := range slices.SortedFunc(maps.Keys(nodes), func(a, b NodeKey) int { return cmp.Compare(a.String(), b.String()) }) {
		p.Nodes = append(p.Nodes, *nodes[key])
	}
	p.Count()
	return p
}

// step plans one object. Whose it is does not matter, as long as it has the labels: but
// a record, and what an inventory claims, is none of a tombstone's.
func (t *Tombstone) step(includeData bool) Step {
	s := Step{
		Action: ActionSkip, Reason: ReasonTombstone, Live: t.Live, Exact: true,
		Entry: &inventory.Entry{Ref: t.Ref, APIVersion: t.APIVersion},
	}
	differs := t.Differs(t.Found)
	switch l := t.Live; {
	case l == nil:
		s.Action, s.Message = ActionDelete, t.Unknown.Error()
	case l.Record:
		s.Message = neverTaken
	case l.PartOf != "":
		s.Message = "an inventory has it: its ApplySet is " + l.PartOf
	case differs != "":
		s.Reason, s.Message = ReasonOtherLabels, "it is another object than is meant: "+differs
	case l.Unmanaged:
		s.Message = MarkedUnmanaged
	case l.Deleting:
		s.Message = "it " + l.Ending
	case t.HoldsData() && !includeData:
		s.Message = "it holds data (--include-data deletes it too)"
	default:
		s.Action, s.Message = ActionDelete, fmt.Sprintf("tombstone at %s", t.Pos)
	}
	return s
}
