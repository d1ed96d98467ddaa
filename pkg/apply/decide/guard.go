package decide

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

type guards struct {
	d  *decider
	in *Input
}

func newGuards(d *decider) guards { return guards{d, d.in} }

// refusals returns the guards' refusals of a plan (contract: guards).
func (g guards) refusals(l Limits) []plan.Refusal {
	var refusals []plan.Refusal
	refuse := func(by plan.Guard, fix, format string, args ...any) {
		refusals = append(refusals, plan.Refusal{Guard: by, Hub: g.in.Hub, What: fmt.Sprintf(format, args...), Fix: fix})
	}
	if what, fix := operated(g.in.Hub, g.in.Recorded.OperatorNodes); what != "" {
		refuse(plan.GuardOperator, fix, "%s", what)
	}
	n := g.losses()
	if g.in.Recorded.HubDeleting {
		name := inventory.HubName(g.in.Hub.Name)
		nodes := n.Nodes + len(g.in.Recorded.Broken)
		refuse(plan.GuardDeleting, fmt.Sprintf(`to keep them: kubectl patch configmap %[3]s -n %[1]s --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]', then apply again. To delete all of them and their objects: lynqctl finalize -n %[1]s --hub %[2]s`, g.in.Hub.Namespace, g.in.Hub.Name, name),
			"the hub's record was deleted, ConfigMap %s/%s: its deletion deletes all of its %s", g.in.Hub.Namespace, name, phrase.Count(nodes, "node"))
		return refusals
	}
	// A narrowed run deletes no node, but still reports an empty source.
	if (len(n.nodes)+len(g.d.leaves) > 0 || g.in.Scope.Narrowed && n.Nodes > 0) && g.in.Desired.Active == 0 && !l.AllowEmpty {
		refuse(plan.GuardEmpty, "check the source; to delete every tenant, pass --allow-empty",
			"%sno row is active, but the %s has %s", g.because(), g.in.place(), phrase.Count(n.Nodes, "node"))
		return refusals
	}
	w := countDeletions(g.in.Recorded.Deletions, g.in.Now, l.Window, n.nodes, n.there)
	if limit := l.MaxDelete.Of(w.Of); len(n.nodes) > 0 && w.Going > limit && g.in.Desired.Active > 0 {
		n.Earlier, n.Of, n.Window = w.Earlier, w.Of, l.Window
		what, fix := n.Refusal(limit, l.MaxDelete.String())
		if n.byHand > 0 {
			what, fix = n.cause()+what, "restore the deleted inventories with lynqctl inventory restore --all -A --hub "+g.in.Hub.String()+", and check the rows; "+n.Anyway()
		}
		refuse(plan.GuardMaxDelete, fix, "%s%s", g.because(), what)
	}
	return refusals
}

// because names the change of the hub that rows may vanish by, or returns "".
func (g guards) because() string {
	if cause := g.in.Desired.Evidence.Cause(); cause != "" {
		return cause + ": "
	}
	return ""
}

// place names the place of the recorded nodes.
func (in *Input) place() string {
	if in.Recorded.Tree {
		return "tree"
	}
	return "cluster"
}

// operated says which LynqNodes the operator has for a hub, and what to do. It returns ""
// for none. The operator's hubs are in the namespace of their LynqNodes.
func operated(hub lynq.HubKey, nodes map[string]int) (what, fix string) {
	count := 0
	for _, n := range nodes {
		count += n
	}
	if count == 0 {
		return "", ""
	}
	what = "the Lynq operator manages this hub: it has " + phrase.Count(count, "LynqNode resource")
	if nodes[hub.Namespace] > 0 {
		return what, "to migrate, stop the operator, preview with lynqctl adopt-operator -n " + hub.Namespace + " --hub " + hub.Name + " --dry-run=client, then run it without --dry-run"
	}
	elsewhere := slices.Sorted(maps.Keys(nodes))[0]
	return what + " in namespace " + elsewhere, fmt.Sprintf("they belong to LynqHub %[1]s/%[2]s: kubectl get lynqnodes -n %[1]s -l lynq.sh/hub=%[2]s. To migrate it, set metadata.namespace of your hub to %[1]s, then preview with lynqctl adopt-operator -n %[1]s --hub %[2]s --dry-run=client",
		elsewhere, hub.Name)
}

// losses are the recorded nodes and the plan's changes to them, as the guards count.
type losses struct {
	limits.Count
	byHand       int            // deleted nodes with an inventory that somebody deleted
	there, nodes []lynq.NodeKey // there is the base of the percentage, and nodes are the losses
}

// cause says what people did beside changing rows, or returns "".
func (n *losses) cause() string {
	switch n.byHand {
	case 0:
		return ""
	case 1:
		return "somebody deleted 1 inventory, and its row is inactive or missing: "
	}
	return fmt.Sprintf("somebody deleted %d inventories, and their rows are inactive or missing: ", n.byHand)
}

// losses counts the nodes and their losses for the guards.
func (g guards) losses() *losses {
	n := &losses{}
	homes, room := g.homes(), map[lynq.NodeKey]bool{}
	for _, inv := range g.in.Recorded.Inventories {
		if !g.d.in.counts(inv) && !g.in.Recorded.HubDeleting {
			continue // nodes of other forms aren't part of the percentage
		}
		key, before := inv.Node.Key(), n.Going()
		change := g.changeOf(inv, homes)
		n.Add(inv.Node.Namespace, change)
		if n.Going() > before {
			n.nodes, n.Named = append(n.nodes, key), append(n.Named, g.named(key))
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

// named returns the name of a node, with its namespace if that isn't the hub's.
func (g guards) named(key lynq.NodeKey) string {
	if key.Namespace == g.in.Hub.Namespace {
		return key.Name
	}
	return key.String()
}

// makesRoom reports whether a kept node counts in the base of max-delete's percentage. It
// does if a row renders the node, or renders it under another name. known has the names
// that counted before. Other nodes don't count, because anybody who may write inventories
// can invent them. A run of some nodes doesn't know all rows, so all nodes count there.
func (g guards) makesRoom(inv *inventory.Inventory, known map[lynq.NodeKey]bool) bool {
	key := inv.Node.Key()
	r := g.d.renamed[key]
	switch {
	case g.in.Scope.Only != nil || g.d.nodes[key] != nil:
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

// rowKey identifies a row of a form.
type rowKey struct {
	form lynq.FormKey
	uid  string
}

// homes returns the namespaces of the rows' nodes.
func (g guards) homes() map[rowKey]string {
	homes := make(map[rowKey]string, len(g.in.Desired.Nodes))
	for _, n := range g.in.Desired.Nodes {
		homes[rowKey{n.Form, n.UID}] = n.Namespace
	}
	return homes
}

// changeOf returns the plan's change to the node of an inventory, as the guards count it.
func (g guards) changeOf(inv *inventory.Inventory, homes map[rowKey]string) *limits.NodeChange {
	key := inv.Node.Key()
	n := g.d.nodes[key]
	c := &limits.NodeChange{Exists: g.exists}
	switch {
	case g.d.untouched[key] != nil: // lynqctl keeps it for now
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
	case n != nil && g.d.in.within(inv) && g.d.obstacle(n, inv) == nil:
		c.Before, c.Objects, c.NotIncluded = g.heldBy(n, inv), len(n.Objects), n.NotIncluded
	}
	return c
}

// heldBy returns the objects that a node no longer renders, by its inventory and not by the
// cluster. So a plan of some nodes is refused only if a plan of all is. An object has data
// if the entry or the form says so, because anybody who may write the inventory can remove
// its mark.
func (g guards) heldBy(n *plan.Node, inv *inventory.Inventory) []limits.Object {
	renamed := inv.Node.Key() != n.Key()
	var held []limits.Object
	for i := range inv.Entries {
		r := &inv.Entries[i]
		if r.Purged() || n.Object(r.Ref, i) != nil {
			continue
		}
		me := g.d.owner(n.Key())
		held = append(held, limits.Object{
			Ref: r.Ref, ID: droppedID(n, r), Template: r.Template, Data: r.HoldsData() || marksData(n, r.ID), Retained: r.Deletion.Kept().WhenDropped || renamed && r.Deletion.Kept().WhenNodeGoes || g.d.excluded(me, r) != "",
		})
	}
	return held
}

// droppedID returns the id of an object's resource. It returns "" if the row still makes an
// object of the same resource, under another name.
func droppedID(n *plan.Node, r *inventory.Entry) string {
	if slices.ContainsFunc(n.Objects, func(o plan.Object) bool { return o.ID == r.ID }) {
		return ""
	}
	return r.ID
}

// marksData reports whether the form marks a resource of the node with holdsData.
func marksData(n *plan.Node, id string) bool {
	return slices.ContainsFunc(n.Objects, func(o plan.Object) bool { return o.ID == id && o.Policy != nil && o.Policy.Data })
}

// exists reports whether some row of the files renders an object, or may.
func (g guards) exists(ref lynq.Ref) bool {
	_, wanted := g.d.desired()[ref]
	return wanted || g.d.wantedBeside(ref) != nil || g.d.claimant(ref) != nil || g.in.Desired.Elsewhere.keeps(g.d, &question{asker: askerNode, entry: &inventory.Entry{Ref: ref}}) != nil
}
