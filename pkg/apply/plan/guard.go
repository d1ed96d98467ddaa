package plan

import (
	"fmt"
	"slices"
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
			"the hub's record was deleted, ConfigMap %s/%s: with it go all of its %s", d.HubNamespace, name, lynq.Count(n.recorded, "node"))
		return refusals
	}
	if n.going > 0 && d.Active == 0 && !l.AllowEmpty {
		refuse(GuardEmpty, "check the source; if every tenant is to go, say --allow-empty",
			"no row is active, but the cluster has %s", lynq.Count(n.recorded, "node"))
		return refusals
	}
	w := countWindow(d.Deletions, d.Now, l.Window, n.nodes, n.there)
	if limit := l.MaxDelete.Of(w.of); n.going > 0 && w.going > limit && d.Active > 0 {
		refuse(GuardMaxDelete, fmt.Sprintf("%s; if they are to go, say --max-delete=%d", n.check(d.hubKey()), w.going),
			"%s%d of %d nodes would go%s%s, %d may (--max-delete=%s)", n.cause(), n.going, w.of, n.why(), w.why(), limit, l.MaxDelete)
	}
	return refusals
}

// losses count nodes that are recorded, and those that a plan takes away.
type losses struct {
	recorded, going int
	byHand          int      // of those that go: their inventories were deleted
	emptied         int      // of those that go: they are wanted, with no object
	excluding       int      // of those that go: they stay, and lose objects that their rows had
	data            int      // of those that go: they stay, and lose objects that hold data
	lost            lynq.Ref // one of these objects

	there, nodes []NodeKey // those that are recorded, and those that go
}

// cause is what people did beside changing rows, "" where they did nothing.
func (n losses) cause() string {
	switch n.byHand {
	case 0:
		return ""
	case 1:
		return "1 inventory was deleted by hand, and its row is inactive or gone: "
	}
	return fmt.Sprintf("%d inventories were deleted by hand, and their rows are inactive or gone: ", n.byHand)
}

// why says why nodes go that did not lose their row.
func (n losses) why() string {
	why := ""
	if n.emptied > 0 {
		why = fmt.Sprintf(", %d of them because their forms make no object for them any more", n.emptied)
	}
	if n.excluding > 0 {
		why += fmt.Sprintf(", %d of them only in part: includeWhen takes objects from them", n.excluding)
	}
	if n.data > 0 {
		why += fmt.Sprintf(", %d of them only in part: they would lose data, such as %s", n.data, n.lost)
	}
	return why
}

// check is what to look at.
func (n losses) check(hub lynq.HubKey) string {
	switch {
	case n.byHand > 0:
		return "restore what was deleted by hand with lynqctl inventory restore --all -A --hub " + hub.String() + ", and check the rows"
	case n.emptied == n.going:
		return "check the forms"
	case n.data > 0:
		return "check the rows and the names in the forms: a new name is a new object, and the old one is deleted with its data"
	}
	return "check the rows"
}

// losses counts what the guards judge by.
func (d *decider) losses() losses {
	var n losses
	for _, inv := range d.Inventories {
		if !d.counts(inv) && !d.HubDeleting {
			continue // nodes of other forms say nothing of the share that goes
		}
		n.recorded++
		key, going := NodeKey{inv.Namespace, inv.Node}, n.going
		n.there = append(n.there, key)
		switch {
		case d.untouched[key] != nil: // it stays for now
		case d.goes(inv):
			n.going++
			if inv.Deleting {
				n.byHand++
			}
		case d.narrows(inv):
			n.going++
			n.excluding++
		case d.empties(inv):
			n.going++
			n.emptied++
		default:
			if ref, loses := d.losesData(inv); loses {
				if n.data == 0 {
					n.lost = ref
				}
				n.going++
				n.data++
			}
		}
		if n.going > going {
			n.nodes = append(n.nodes, key)
		}
	}
	return n
}

// narrows tells whether a row no longer gets objects that its node has, and that
// would be deleted: a change of rows does that, so that it counts as if nodes went. What
// another resource makes for the row, or for another one, does not go.
func (d *decider) narrows(inv *inventory.Inventory) bool {
	n := d.nodes[NodeKey{inv.Namespace, inv.Node}]
	if n == nil || len(n.NotIncluded) == 0 || !d.within(inv) || d.obstacle(n, inv) != nil {
		return false
	}
	return slices.ContainsFunc(inv.Entries, func(r inventory.Entry) bool {
		_, wanted := d.desired[r.Ref]
		return slices.Contains(n.NotIncluded, r.ID) && !r.Deletion.Keeps(false) && !wanted
	})
}

// losesData tells whether a node that stays loses an object that holds data, since it has
// another name now or the form dropped it, and which one. What another node renders is
// not lost.
func (d *decider) losesData(inv *inventory.Inventory) (ref lynq.Ref, loses bool) {
	key := NodeKey{inv.Namespace, inv.Node}
	n := d.nodes[key]
	if n == nil || !d.within(inv) || d.obstacle(n, inv) != nil {
		return ref, false
	}
	at := slices.IndexFunc(inv.Entries, func(r inventory.Entry) bool {
		if !r.HoldsData() || r.Deletion.Keeps(false) || r.Purged() {
			return false
		}
		_, wanted := d.desired[r.Ref]
		gone := d.planned(key) && d.Live[r.Ref] == nil && d.Unknown[r.Ref] == nil
		return !wanted && !gone && d.excluded(d.owner(key), &r) == "" && d.Elsewhere.keeps(&question{asker: AskerNode, entry: &r}) == nil
	})
	if at < 0 {
		return ref, false
	}
	return inv.Entries[at].Ref, true
}

// empties tells whether a node loses all of its objects though its row is active.
func (d *decider) empties(inv *inventory.Inventory) bool {
	n := d.nodes[NodeKey{inv.Namespace, inv.Node}]
	return n != nil && len(n.Objects) == 0 && len(inv.Entries) > 0 && d.within(inv) && d.obstacle(n, inv) == nil
}
