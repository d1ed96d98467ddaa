package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// MaxDelete is how many of a hub's nodes may go in one run: a number of nodes,
// or a share of them.
type MaxDelete struct {
	Nodes   int
	Percent int // counts where it is not 0
}

// DefaultMaxDelete is a quarter of the nodes.
func DefaultMaxDelete() MaxDelete { return MaxDelete{Percent: 25} }

// ParseMaxDelete reads "10" or "25%".
func ParseMaxDelete(s string) (MaxDelete, error) {
	number, percent := strings.CutSuffix(s, "%")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || percent && n > 100 {
		return MaxDelete{}, fmt.Errorf("%q is neither a number of nodes nor a share of them such as 25%%", s)
	}
	if percent {
		if n == 0 {
			return MaxDelete{}, nil
		}
		return MaxDelete{Percent: n}, nil
	}
	return MaxDelete{Nodes: n}, nil
}

// String is how it is written on the command line.
func (m MaxDelete) String() string {
	if m.Percent != 0 {
		return strconv.Itoa(m.Percent) + "%"
	}
	return strconv.Itoa(m.Nodes)
}

// Of is the number of nodes that may go; of a share never less than one.
func (m MaxDelete) Of(nodes int) int {
	if m.Percent != 0 {
		return max(1, nodes*m.Percent/100)
	}
	return m.Nodes
}

// refusals are what the guards have against a plan (contract: guards).
func (d *decider) refusals(l Limits) []Refusal {
	var refusals []Refusal
	refuse := func(g Guard, fix, format string, args ...any) {
		refusals = append(refusals, Refusal{Guard: g, Hub: d.hubKey(), What: fmt.Sprintf(format, args...), Fix: fix})
	}
	if d.OperatorNodes > 0 {
		refuse(GuardOperator, "to hand over, stop the operator, look at lynqctl adopt-operator -n "+d.HubNamespace+" --hub "+d.Hub+" --dry-run=client, and run it without --dry-run",
			"the Lynq operator manages this hub: it has %s", lynq.Count(d.OperatorNodes, "LynqNode resource"))
	}
	n := d.losses()
	if d.HubDeleting {
		name := inventory.HubName(d.Hub)
		refuse(GuardDeleting, fmt.Sprintf(`to keep them: kubectl patch configmap %[3]s -n %[1]s --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]', and apply again. To delete all of them and their objects: lynqctl finalize -n %[1]s --hub %[2]s`, d.HubNamespace, d.Hub, name),
			"the hub's record was deleted, ConfigMap %s/%s: with it go all of its %s", d.HubNamespace, name, lynq.Count(n.Nodes, "node"))
		return refusals
	}
	// A run that a selector narrows deletes no node, and tells of an empty source all the same.
	if (len(n.nodes) > 0 || d.Narrowed && n.Nodes > 0) && d.Active == 0 && !l.AllowEmpty {
		refuse(GuardEmpty, "check the source; if every tenant is to go, say --allow-empty",
			"no row is active, but the cluster has %s", lynq.Count(n.Nodes, "node"))
		return refusals
	}
	w := countWindow(d.Deletions, d.Now, l.Window, n.nodes, n.there)
	if limit := l.MaxDelete.Of(w.of); len(n.nodes) > 0 && w.going > limit && d.Active > 0 {
		n.Earlier, n.Of, n.Window = w.earlier, w.of, l.Window
		what, fix := n.Refusal(limit, l.MaxDelete.String())
		if n.byHand > 0 {
			what, fix = n.cause()+what, "restore what was deleted by hand with lynqctl inventory restore --all -A --hub "+d.hubKey().String()+", and check the rows; "+n.Anyway()
		}
		refuse(GuardMaxDelete, fix, "%s", what)
	}
	return refusals
}

// losses are what the guards judge by: the nodes that are recorded, and what the plan
// does to them.
type losses struct {
	lynq.Toll
	byHand       int       // nodes that are deleted, and whose inventories were deleted by hand
	there, nodes []NodeKey // those that are recorded, and those that count
}

// cause is what people did beside changing rows, "" where they did nothing.
func (n *losses) cause() string {
	switch n.byHand {
	case 0:
		return ""
	case 1:
		return "1 inventory was deleted by hand, and its row is inactive or gone: "
	}
	return fmt.Sprintf("%d inventories were deleted by hand, and their rows are inactive or gone: ", n.byHand)
}

// losses counts what the guards judge by.
func (d *decider) losses() *losses {
	n := &losses{}
	homes := d.homes()
	for _, inv := range d.Inventories {
		if !d.counts(inv) && !d.HubDeleting {
			continue // nodes of other forms say nothing of the share that goes
		}
		key, before := NodeKey{inv.Namespace, inv.Node}, n.Going()
		n.there = append(n.there, key)
		change := d.changeOf(inv, homes)
		n.Add(inv.Namespace, change)
		if n.Going() > before {
			n.nodes = append(n.nodes, key)
		}
		if change.Leaves && inv.Deleting {
			n.byHand++
		}
	}
	return n
}

// homes are the namespaces in which rows make their nodes now.
func (d *decider) homes() map[rowKey]string {
	homes := make(map[rowKey]string, len(d.Nodes))
	for _, n := range d.Nodes {
		homes[rowKey{n.formKey(), n.UID}] = n.Namespace
	}
	return homes
}

// changeOf is what the plan does to the node of an inventory, as the guards count it.
func (d *decider) changeOf(inv *inventory.Inventory, homes map[rowKey]string) *lynq.NodeChange {
	key := NodeKey{inv.Namespace, inv.Node}
	n := d.nodes[key]
	c := &lynq.NodeChange{Exists: d.exists}
	switch {
	case d.untouched[key] != nil: // it stays for now
	case d.goes(inv):
		c.Leaves = true
		if to := homes[rowKey{FormOf(inv), inv.RowUID}]; to != inv.Namespace {
			c.To = to
		}
	case n != nil && d.within(inv) && d.obstacle(n, inv) == nil:
		c.Before, c.Objects, c.NotIncluded = d.heldBy(key, inv), len(n.Objects), n.NotIncluded
	}
	return c
}

// heldBy are the objects that a node has, by its record alone: what a plan of some nodes
// refuses, a plan of all refuses too.
func (d *decider) heldBy(key NodeKey, inv *inventory.Inventory) []lynq.Held {
	me := d.owner(key)
	var held []lynq.Held
	for i := range inv.Entries {
		r := &inv.Entries[i]
		if r.Purged() {
			continue
		}
		held = append(held, lynq.Held{
			Ref: r.Ref, ID: r.ID, Data: r.HoldsData(), Retained: r.Deletion.Keeps(false) || d.excluded(me, r) != "",
		})
	}
	return held
}

// exists tells whether some row of the inputs renders an object, or may.
func (d *decider) exists(ref lynq.Ref) bool {
	_, wanted := d.desired[ref]
	return wanted || d.Elsewhere.keeps(d, &question{asker: AskerNode, entry: &inventory.Entry{Ref: ref}}) != nil
}
