package decide

import (
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/window"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/toll"
)

// guards refuse plans.
type guards struct {
	d  *decider
	in *Input
}

func newGuards(d *decider) guards { return guards{d, d.in} }

// refusals are what the guards have against a plan (contract: guards).
func (g guards) refusals(l Limits) []plan.Refusal {
	var refusals []plan.Refusal
	refuse := func(by plan.Guard, fix, format string, args ...any) {
		refusals = append(refusals, plan.Refusal{Guard: by, Hub: g.in.Hub, What: fmt.Sprintf(format, args...), Fix: fix})
	}
	if g.in.OperatorNodes > 0 {
		refuse(plan.GuardOperator, "to migrate, stop the operator, preview with lynqctl adopt-operator -n "+g.in.Hub.Namespace+" --hub "+g.in.Hub.Name+" --dry-run=client, then run it without --dry-run",
			"the Lynq operator manages this hub: it has %s", phrase.Count(g.in.OperatorNodes, "LynqNode resource"))
	}
	n := g.losses()
	if g.in.HubDeleting {
		name := inventory.HubName(g.in.Hub.Name)
		refuse(plan.GuardDeleting, fmt.Sprintf(`to keep them: kubectl patch configmap %[3]s -n %[1]s --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]', then apply again. To delete all of them and their objects: lynqctl finalize -n %[1]s --hub %[2]s`, g.in.Hub.Namespace, g.in.Hub.Name, name),
			"the hub's record was deleted, ConfigMap %s/%s: its deletion deletes all of its %s", g.in.Hub.Namespace, name, phrase.Count(n.Nodes, "node"))
		return refusals
	}
	// A run that a selector narrows deletes no node, and tells of an empty source all the same.
	if (len(n.nodes)+len(g.d.leaves) > 0 || g.in.Narrowed && n.Nodes > 0) && g.in.Active == 0 && !l.AllowEmpty {
		refuse(plan.GuardEmpty, "check the source; to delete every tenant, pass --allow-empty",
			"no row is active, but the cluster has %s", phrase.Count(n.Nodes, "node"))
		return refusals
	}
	w := window.Count(g.in.Deletions, g.in.Now, l.Window, n.nodes, n.there)
	if limit := l.MaxDelete.Of(w.Of); len(n.nodes) > 0 && w.Going > limit && g.in.Active > 0 {
		n.Earlier, n.Of, n.Window = w.Earlier, w.Of, l.Window
		what, fix := n.Refusal(limit, l.MaxDelete.String())
		if n.byHand > 0 {
			what, fix = n.cause()+what, "restore the deleted inventories with lynqctl inventory restore --all -A --hub "+g.in.Hub.String()+", and check the rows; "+n.Anyway()
		}
		refuse(plan.GuardMaxDelete, fix, "%s", what)
	}
	return refusals
}

// losses are what the guards judge by: the nodes that are recorded, and what the plan
// does to them.
type losses struct {
	toll.Toll
	byHand       int            // nodes that are deleted, and whose inventories were deleted by hand
	there, nodes []lynq.NodeKey // those of which a share may go, and those that count
}

// cause is what people did beside changing rows, "" where they did nothing.
func (n *losses) cause() string {
	switch n.byHand {
	case 0:
		return ""
	case 1:
		return "somebody deleted 1 inventory, and its row is inactive or missing: "
	}
	return fmt.Sprintf("somebody deleted %d inventories, and their rows are inactive or missing: ", n.byHand)
}

// losses counts what the guards judge by.
func (g guards) losses() *losses {
	n := &losses{}
	homes, room := g.homes(), map[lynq.NodeKey]bool{}
	for _, inv := range g.in.Inventories {
		if !g.d.counts(inv) && !g.in.HubDeleting {
			continue // nodes of other forms say nothing of the share that goes
		}
		key, before := inv.Node.Key(), n.Going()
		change := g.changeOf(inv, homes)
		n.Add(inv.Node.Namespace, change)
		if n.Going() > before {
			n.nodes = append(n.nodes, key)
		}
		if n.Going() > before || g.makesRoom(inv, room) {
			n.there = append(n.there, key)
		}
		if change.Leaves && inv.Deleting {
			n.byHand++
		}
	}
	return n
}

// makesRoom reports whether a node that stays counts when max-delete takes its percentage. It
// does if a row wants the node, or wants it by another name; known has the names that counted
// before. Other nodes don't count, because whoever may write inventories can invent them. A
// run of some nodes doesn't know what all rows want, so all nodes count there.
func (g guards) makesRoom(inv *inventory.Inventory, known map[lynq.NodeKey]bool) bool {
	key := inv.Node.Key()
	r := g.d.renamed[key]
	switch {
	case g.in.Only != nil || g.d.nodes[key] != nil:
		return true
	case r == nil || r.now != nil && r.of.inventories[r.now.Key()] != nil:
		return false
	case r.now != nil:
		key = r.now.Key()
	case r.elsewhere != nil:
		key = r.elsewhere.node
	default: // another run plans that node
		key.Name = r.name
	}
	counted := known[key]
	known[key] = true
	return !counted
}

// rowKey is a row of a form.
type rowKey struct {
	form lynq.FormKey
	uid  string
}

// homes are the namespaces in which rows make their nodes now.
func (g guards) homes() map[rowKey]string {
	homes := make(map[rowKey]string, len(g.in.Nodes))
	for _, n := range g.in.Nodes {
		homes[rowKey{n.Form, n.UID}] = n.Namespace
	}
	return homes
}

// changeOf is what the plan does to the node of an inventory, as the guards count it.
func (g guards) changeOf(inv *inventory.Inventory, homes map[rowKey]string) *toll.NodeChange {
	key := inv.Node.Key()
	n := g.d.nodes[key]
	c := &toll.NodeChange{Exists: g.exists}
	switch {
	case g.d.untouched[key] != nil: // it stays for now
	case g.d.leaves[key] != nil:
	case g.d.renamed[key] != nil:
		if r := g.d.renamed[key]; r.now != nil && r.obstacle() == nil {
			now := r.now
			c.Before, c.Objects, c.NotIncluded = g.heldBy(now, inv), len(now.Objects), now.NotIncluded
			if now.Hub == g.in.Hub && now.Namespace != inv.Node.Namespace {
				c.Leaves, c.To = true, now.Namespace
			}
		}
	case g.d.goes(inv):
		c.Leaves = true
		if to := homes[rowKey{inv.Node.Full().Form, inv.Node.UID}]; to != inv.Node.Namespace {
			c.To = to
		}
	case n != nil && g.d.within(inv) && g.d.obstacle(n, inv) == nil:
		c.Before, c.Objects, c.NotIncluded = g.heldBy(n, inv), len(n.Objects), n.NotIncluded
	}
	return c
}

// heldBy are the objects that a node has, by its record and not by the cluster: what a plan
// of some nodes refuses, a plan of all refuses too. An object holds data where the record or
// the form says so: whoever may write the record can take its mark off.
func (g guards) heldBy(n *plan.Node, inv *inventory.Inventory) []toll.Held {
	me, renamed := g.d.owner(n.Key()), inv.Node.Key() != n.Key()
	var held []toll.Held
	for i := range inv.Entries {
		r := &inv.Entries[i]
		if r.Purged() {
			continue
		}
		held = append(held, toll.Held{
			Ref: r.Ref, ID: r.ID, Data: r.HoldsData() || marksData(n, r.ID), Retained: r.Deletion.Kept().WhenDropped || renamed && r.Deletion.Kept().WhenNodeGoes || g.d.excluded(me, r) != "",
		})
	}
	return held
}

// marksData tells whether the form marks a resource of the node with holdsData.
func marksData(n *plan.Node, id string) bool {
	return slices.ContainsFunc(n.Objects, func(o plan.Object) bool { return o.ID == id && o.Policy != nil && o.Policy.Data })
}

// exists tells whether some row of the inputs renders an object, or may.
func (g guards) exists(ref lynq.Ref) bool {
	_, wanted := g.d.desired[ref]
	return wanted || g.d.wantedBeside(ref) != nil || g.in.Elsewhere.keeps(g.d, &question{asker: askerNode, entry: &inventory.Entry{Ref: ref}}) != nil
}
