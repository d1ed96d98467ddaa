package decide

import (
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Concern selects the nodes of a hub to plan. All others are known to be in their desired
// state, or had their attempt.
type Concern struct {
	// Nodes are the nodes with changed rows or forms, and failed nodes.
	Nodes map[lynq.NodeKey]bool
	// Objects are the objects that other clients changed or deleted, including the
	// ConfigMaps of inventories.
	Objects map[lynq.Ref]bool
	// Rollouts are the forms with a rollout. Turns there depend on all nodes of the form.
	Rollouts map[lynq.FormKey]bool
}

// Inventories reports whether some of the objects may be inventories.
func (c *Concern) Inventories() bool {
	for ref := range c.Objects {
		if ref.Group == "" && ref.Kind == "ConfigMap" && strings.HasPrefix(ref.Name, inventory.Name("")) {
			return true
		}
	}
	return false
}

// Narrow limits the plan to some nodes. These are nodes that a change concerns, deleted
// nodes, and nodes that must be decided with them, because they
//
//   - have the same row, so that their forms may depend on each other,
//   - have the same form, if that has a rollout, or
//   - want or own the same object.
//
// The decisions and the guards' answers are those of a plan of all nodes. Narrow returns
// the nodes and the inventories with objects to read.
func (in *Input) Narrow(c *Concern) ([]*plan.Node, []*inventory.Inventory) {
	all, ledger := in.members(), newGraceLedger(in.Recorded.Leaving)
	in.Scope.Concerned = map[lynq.NodeKey]bool{}
	ties := map[tie]bool{}
	add := func(m *member) {
		in.Scope.Concerned[m.key] = true
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
			if !in.Scope.Plans(m.key) && m.tied(c, ties) {
				add(m)
				grown = true
			}
		}
	}
	in.Scope.Gone = c.gone(all)
	var nodes []*plan.Node
	var inventories []*inventory.Inventory
	for _, m := range all {
		if !in.Scope.Plans(m.key) {
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

// gone returns the nodes of a concern that aren't members. Each failed to render and had no
// inventory.
func (c *Concern) gone(members []*member) []lynq.NodeKey {
	left := maps.Clone(c.Nodes)
	for _, m := range members {
		delete(left, m.key)
	}
	return slices.SortedFunc(maps.Keys(left), func(a, b lynq.NodeKey) int { return strings.Compare(a.String(), b.String()) })
}

// member is a node with its desired state and its inventory. One of them may be nil.
type member struct {
	key       lynq.NodeKey
	node      *plan.Node
	inventory *inventory.Inventory
	now       string // the new uid of the inventory's row, or ""
}

// members returns all nodes of the hub. The nodes of rows come first.
func (in *Input) members() []*member {
	all := make([]*member, 0, len(in.Desired.Nodes))
	wanted := make(map[lynq.NodeKey]*member, len(in.Desired.Nodes))
	for _, n := range in.Desired.Nodes {
		m := &member{key: n.Key(), node: n}
		all, wanted[n.Key()] = append(all, m), m
	}
	for _, inv := range in.Recorded.Inventories {
		key := inv.Node.Key()
		m := wanted[key]
		if m == nil {
			m = &member{key: key}
			all = append(all, m)
		}
		m.inventory = inv
		if in.Desired.Renames != nil {
			m.now = in.Desired.Renames.UIDs[strings.TrimSpace(inv.Node.UID)]
		}
	}
	return all
}

// going reports whether no row renders a recorded node, and its form is in the run.
func (in *Input) going(m *member) bool {
	return m.node == nil && in.counts(m.inventory)
}

// concerns reports whether a node or one of its objects changed.
func (c *Concern) concerns(m *member) bool {
	if c.Nodes[m.key] || c.Objects[lynq.Ref{Kind: "ConfigMap", Namespace: m.key.Namespace, Name: inventory.Name(m.key.Name)}] {
		return true
	}
	return len(c.Objects) > 0 && !m.objects(func(ref lynq.Ref) bool { return !c.Objects[ref] })
}

// tie is a property of nodes that must be decided together. Exactly one field is set.
type tie struct {
	row  string
	form lynq.FormKey
	ref  lynq.Ref
}

// tied reports whether a node has one of these ties.
func (m *member) tied(c *Concern, ties map[tie]bool) bool {
	return !m.ties(c, func(t tie) bool { return !ties[t] })
}

// ties calls each with every tie of a node, until it returns false. It returns true if each
// never did.
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

// objects calls each with every object that a node renders or owns, until it returns false
// (see ties).
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
