package decide

import (
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/grace"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Concern says which nodes of a hub are planned, where all others are known to be as they
// are to be, or had their try.
type Concern struct {
	// Nodes are those whose rows or forms changed, or that did not end well.
	Nodes map[lynq.NodeKey]bool
	// Objects are those that other clients changed, or that are gone, with the ConfigMaps
	// of inventories.
	Objects map[lynq.Ref]bool
	// Rollouts are the forms that have one: whose turn it is depends on all nodes of
	// theirs.
	Rollouts map[lynq.FormKey]bool
}

// Inventories tells whether some of the objects may be inventories.
func (c *Concern) Inventories() bool {
	for ref := range c.Objects {
		if ref.Group == "" && ref.Kind == "ConfigMap" && strings.HasPrefix(ref.Name, inventory.Name("")) {
			return true
		}
	}
	return false
}

// Narrow has the plan be of some nodes alone: those that a change concerns, those that
// go, and those that are decided with them, since they
//
//   - are of the same row: their forms may depend on each other,
//   - are of the same form, where that has a rollout, or
//   - want or have the same object.
//
// What is decided of these, and what the guards say, is what a plan of all nodes has. It
// gives the nodes and the inventories whose objects are to be observed.
func (in *Input) Narrow(c *Concern) ([]*plan.Node, []*inventory.Inventory) {
	all, ledger := in.members(), grace.NewLedger(in.Grace.Recorded)
	in.Concerned = map[lynq.NodeKey]bool{}
	ties := map[tie]bool{}
	add := func(m *member) {
		in.Concerned[m.key] = true
		m.ties(c, func(t tie) bool { ties[t] = true; return true })
	}
	for _, m := range all {
		if c.concerns(m) || in.going(m) && !in.rests(ledger, m.inventory) {
			add(m)
		}
	}
	for grown := true; grown; {
		grown = false
		for _, m := range all {
			if !in.Concerned[m.key] && m.tied(c, ties) {
				add(m)
				grown = true
			}
		}
	}
	in.Gone = c.gone(all)
	var nodes []*plan.Node
	var inventories []*inventory.Inventory
	for _, m := range all {
		if !in.Concerned[m.key] {
			continue
		}
		if m.node != nil {
			nodes = append(nodes, m.node)
		}
		if m.inventory != nil {
			inventories = append(inventories, m.inventory)
		}
	}
	return nodes, inventories
}

// gone are the nodes of a concern that are no members. Each had no inventory, because it
// could not be rendered.
func (c *Concern) gone(members []*member) []lynq.NodeKey {
	left := maps.Clone(c.Nodes)
	for _, m := range members {
		delete(left, m.key)
	}
	return slices.SortedFunc(maps.Keys(left), func(a, b lynq.NodeKey) int { return strings.Compare(a.String(), b.String()) })
}

// member is a node as rows want it, and as it is recorded; one of them may be nil.
type member struct {
	key       lynq.NodeKey
	node      *plan.Node
	inventory *inventory.Inventory
	now       string // the uid of the row that had that of the inventory before, "" for none
}

// members are all nodes of the hub, those that rows want first.
func (in *Input) members() []*member {
	all := make([]*member, 0, len(in.Nodes))
	wanted := make(map[lynq.NodeKey]*member, len(in.Nodes))
	for _, n := range in.Nodes {
		m := &member{key: n.Key(), node: n}
		all, wanted[n.Key()] = append(all, m), m
	}
	for _, inv := range in.Inventories {
		key := inv.Node.Key()
		m := wanted[key]
		if m == nil {
			m = &member{key: key}
			all = append(all, m)
		}
		m.inventory = inv
		if in.Renames != nil {
			m.now = in.Renames.UIDs[strings.TrimSpace(inv.Node.UID)]
		}
	}
	return all
}

// going tells whether no row wants a node that is recorded, and of a form of the run.
func (in *Input) going(m *member) bool {
	return m.node == nil && (&decider{in: in}).counts(m.inventory)
}

// concerns tells whether something happened to a node, or to an object of it.
func (c *Concern) concerns(m *member) bool {
	if c.Nodes[m.key] || c.Objects[lynq.Ref{Kind: "ConfigMap", Namespace: m.key.Namespace, Name: inventory.Name(m.key.Name)}] {
		return true
	}
	return len(c.Objects) > 0 && !m.objects(func(ref lynq.Ref) bool { return !c.Objects[ref] })
}

// tie is what two nodes have in common that are decided together: one field of it is set.
type tie struct {
	row  string
	form lynq.FormKey
	ref  lynq.Ref
}

// tied tells whether a node has one of these in common with others.
func (m *member) tied(c *Concern, ties map[tie]bool) bool {
	return !m.ties(c, func(t tie) bool { return !ties[t] })
}

// ties gives what others may have in common with a node, until each is false. It is true
// where that never was.
func (m *member) ties(c *Concern, each func(tie) bool) bool {
	if n := m.node; n != nil {
		if !each(tie{row: n.UID}) || c.Rollouts[n.Form] && !each(tie{form: n.Form}) {
			return false
		}
	}
	if inv := m.inventory; inv != nil {
		if !each(tie{row: inv.Node.UID}) || c.Rollouts[inv.Node.Form] && !each(tie{form: inv.Node.Form}) {
			return false
		}
	}
	if m.now != "" && !each(tie{row: m.now}) {
		return false
	}
	return m.objects(func(ref lynq.Ref) bool { return each(tie{ref: ref}) })
}

// objects gives all objects that a node wants or has, until each is false; see ties.
func (m *member) objects(each func(lynq.Ref) bool) bool {
	if m.node != nil {
		for _, objects := range [][]plan.Object{m.node.Objects, m.node.Hooks} {
			for i := range objects {
				if !each(objects[i].Ref) {
					return false
				}
			}
		}
	}
	if m.inventory != nil {
		for _, entries := range [][]inventory.Entry{m.inventory.Entries, m.inventory.Hooks} {
			for i := range entries {
				if !each(entries[i].Ref) {
					return false
				}
			}
		}
	}
	return true
}
