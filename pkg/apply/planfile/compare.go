package planfile

import (
	"cmp"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Cause says what changed since somebody made a plan.
type Cause string

// The causes, in the order in which people ask for them.
const (
	CauseHub       Cause = "hub" // no plan of the run has the hub
	CauseForm      Cause = "form"
	CauseRow       Cause = "row"
	CauseObject    Cause = "object"
	CauseInventory Cause = "inventory"
	CauseDecision  Cause = "decision" // the cluster or the flags changed in another way
)

// Change is one change since somebody made a plan. Objects counts the objects that it
// affects.
type Change struct {
	Cause   Cause
	Hub     lynq.HubKey
	Form    lynq.FormKey // only for CauseForm
	ID      string       // of a resource in the form, only for CauseForm
	Node    lynq.NodeKey // only for CauseRow and the causes after it
	Object  lynq.Ref     // only for CauseObject and CauseDecision, and empty if the change is about the node
	What    string       // "was replaced", "is gone", ...
	Objects int
}

// Compare returns the differences between a file and the plans of a run. plans has only the
// nodes that the file names. Compare ignores differences that the file doesn't depend on.
func Compare(k Key, f *File, plans []plan.Plan) ([]Change, error) {
	var c comparison
	now := map[partKey]*Plan{}
	for i := range plans {
		part, err := k.part(&plans[i], allNodes(&plans[i]))
		if err != nil {
			return nil, err
		}
		now[partKey{part.Key(), part.Tombstones}] = part
	}
	for i := range f.Plans {
		then := &f.Plans[i]
		c.hub = then.Key()
		key := partKey{then.Key(), then.Tombstones}
		if now[key] == nil && !then.Tombstones {
			c.add(Change{Cause: CauseHub, What: "this run doesn't"})
			continue
		}
		c.part(then, now[key])
	}
	return c.changes(), nil
}

type partKey struct {
	hub        lynq.HubKey
	tombstones bool
}

func allNodes(p *plan.Plan) map[lynq.NodeKey]bool {
	all := map[lynq.NodeKey]bool{}
	for i := range p.Nodes {
		all[p.Nodes[i].Key()] = true
	}
	for i := range p.Leaving {
		all[p.Leaving[i].Key()] = true
	}
	return all
}

// comparison collects changes.
type comparison struct {
	hub  lynq.HubKey
	list []Change
}

func (c *comparison) add(change Change) {
	change.Hub = c.hub
	c.list = append(c.list, change)
}

// changes merges equal changes and adds up their objects. It sorts them by cause.
func (c *comparison) changes() []Change {
	at := map[Change]int{}
	var all []Change
	for _, change := range c.list {
		once := change
		once.Objects = 0
		i, known := at[once]
		if !known {
			i = len(all)
			at[once], all = i, append(all, once)
		}
		all[i].Objects += change.Objects
	}
	order := []Cause{CauseHub, CauseForm, CauseRow, CauseObject, CauseInventory, CauseDecision}
	slices.SortStableFunc(all, func(a, b Change) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Cause), slices.Index(order, b.Cause)), cmp.Compare(a.Hub.String(), b.Hub.String()),
			cmp.Compare(a.Form.String(), b.Form.String()),
			cmp.Compare(a.ID, b.ID), cmp.Compare(a.Node.String(), b.Node.String()), cmp.Compare(a.Object.Full(), b.Object.Full()))
	})
	return all
}

// part compares the nodes of a hub.
func (c *comparison) part(then, now *Plan) {
	nodes := map[lynq.NodeKey]*Node{}
	if now != nil {
		for i := range now.Nodes {
			nodes[now.Nodes[i].Key()] = &now.Nodes[i]
		}
	}
	for i := range then.Nodes {
		c.node(&then.Nodes[i], nodes[then.Nodes[i].Key()])
	}
}

func (c *comparison) node(then, now *Node) {
	switch {
	case now != nil && then.Leaves && now.Leaving:
		c.add(Change{Cause: CauseDecision, Node: then.Key(), What: "is kept for its deletionGracePeriod"})
	case now != nil && then.Leaving && now.Leaves:
		c.add(Change{Cause: CauseDecision, Node: then.Key(), What: "would be deleted: its deletionGracePeriod is over"})
	case now != nil && then.Leaving && !now.Leaving:
		c.add(Change{Cause: CauseRow, Node: then.Key(), What: "is active again"})
	case now != nil && now.Leaving && !then.Leaving:
		c.add(Change{Cause: CauseRow, Node: then.Key(), What: "is gone or inactive"})
	case now == nil && (then.Leaves || then.Leaving):
		c.add(Change{Cause: CauseInventory, Node: then.Key(), What: "is gone"})
	case now == nil:
		c.add(Change{Cause: CauseRow, Node: then.Key(), What: "makes the node no more"})
	case then.Leaves && !now.Leaves:
		c.add(Change{Cause: CauseRow, Node: then.Key(), What: "is active again"})
	case now.Leaves && !then.Leaves:
		c.add(Change{Cause: CauseRow, Node: then.Key(), What: "is gone or inactive"})
	default:
		if then.GracePeriod != now.GracePeriod {
			c.add(Change{Cause: CauseDecision, Node: then.Key(), What: "has another deletionGracePeriod: " + now.GracePeriod + ", and not " + then.GracePeriod})
		}
		if then.Row != now.Row {
			c.add(Change{Cause: CauseRow, Node: then.Key(), What: "changed"})
		}
		c.steps(then, now, c.inventories(then, now))
	}
}

// inventories reports whether another run changed the node.
func (c *comparison) inventories(then, now *Node) bool {
	change := Change{Cause: CauseInventory, Node: then.Key()}
	switch {
	case then.Inventory == nil && now.Inventory == nil, then.Inventory != nil && now.Inventory != nil && *then.Inventory == *now.Inventory:
		return false
	case then.Inventory == nil:
		change.What = "exists now"
	case now.Inventory == nil:
		change.What = "is gone"
	case then.Inventory.UID != now.Inventory.UID:
		change.What = "was replaced"
	default:
		change.What = "changed"
	}
	c.add(change)
	return true
}

// stepKey identifies a step of a node. An object has two steps if a hook runs it and then
// deletes it.
type stepKey struct {
	ref    lynq.Ref
	wanted bool
}

func (s *Step) key() stepKey { return stepKey{s.Ref(), s.Manifest != ""} }

// steps compares the steps of a node. A step that another run has already done isn't a
// change.
func (c *comparison) steps(then, now *Node, ran bool) {
	steps := map[stepKey]*Step{}
	for i := range now.Steps {
		steps[now.Steps[i].key()] = &now.Steps[i]
	}
	for i := range then.Steps {
		s := &then.Steps[i]
		if n := steps[s.key()]; !ran || n == nil || n.Action != plan.ActionKeep || n.Form != s.Form || n.Manifest != s.Manifest {
			c.step(then, s, n)
		}
		delete(steps, s.key())
	}
	for i := range now.Steps {
		if s := &now.Steps[i]; steps[s.key()] != nil {
			c.add(Change{Cause: CauseDecision, Node: then.Key(), Object: s.Ref(), What: extra(s), Objects: 1})
		}
	}
}

// extra describes an action of a run that the file doesn't have.
func extra(s *Step) string {
	if s.Action == plan.ActionKeep { // a hook that this run records, and that may run later
		return "came into the form"
	}
	return "isn't in the plan, and lynqctl would " + string(s.Action) + " it"
}

func (c *comparison) step(n *Node, then, now *Step) {
	key := n.Key()
	switch {
	case now == nil:
		c.add(Change{Cause: CauseDecision, Node: key, Object: then.Ref(), What: "isn't an object of the node any more", Objects: 1})
	case then.Form != now.Form:
		c.add(Change{Cause: CauseForm, Form: lynq.FormKey{Namespace: n.FormNamespace, Name: n.Form}, ID: now.ID, Objects: 1})
	case then.Manifest != now.Manifest:
		c.add(Change{Cause: CauseRow, Node: key, What: "changed", Objects: 1})
	case c.object(key, then, now):
	case then.Action != now.Action || then.Reason != now.Reason || then.ID != now.ID:
		c.add(Change{Cause: CauseDecision, Node: key, Object: then.Ref(), What: "would be handled otherwise: " + string(now.Action) + ", and not " + string(then.Action), Objects: 1})
	}
}

// object compares the recorded object with the live one, if the plan depends on it.
func (c *comparison) object(key lynq.NodeKey, then, now *Step) bool {
	a, b := then.Object, now.Object
	change := Change{Cause: CauseObject, Node: key, Object: then.Ref(), Objects: 1}
	switch {
	case a == nil && b == nil, a != nil && b != nil && *a == *b:
		return false
	case a == nil && then.Action == now.Action:
		change.What = "exists now"
	case a == nil, b == nil && now.Action == plan.ActionKeep:
		change.What = "changed"
	case b == nil:
		change.What = "is gone"
	case a.UID != b.UID:
		change.What = "was replaced by another object of its name"
	default:
		change.What = "changed"
	}
	c.add(change)
	return true
}
