package decide

import (
	"fmt"
	"maps"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// misnamed finds nodes of the run with an inventory under another name. lynqctl didn't see
// that inventory when it chose the names, or there are two. Creating another inventory, or
// deleting that one, would be a guess about its objects.
type misnamed struct {
	of       map[lynq.NodeKey]*inventory.Inventory // by the nodes of the run
	recorded map[lynq.NodeKey]bool                 // by the names in the inventories
}

// identityKey identifies a node without its hub and its form's namespace, because old
// inventories lack these (see Node.Is).
type identityKey struct{ namespace, form, uid string }

func (d *decider) findMisnamed() misnamed {
	var others []*inventory.Inventory // inventories that don't belong to the node with their name
	for _, inv := range d.in.Recorded.Inventories {
		if n := d.nodes[inv.Node.Key()]; n == nil || !n.Is(inv) {
			others = append(others, inv)
		}
	}
	m := misnamed{of: map[lynq.NodeKey]*inventory.Inventory{}, recorded: map[lynq.NodeKey]bool{}}
	if len(others) == 0 {
		return m
	}
	nodes := make(map[identityKey][]*plan.Node, len(d.in.Desired.Nodes))
	for _, n := range d.in.Desired.Nodes {
		key := identityKey{n.Namespace, n.Form.Name, n.UID}
		nodes[key] = append(nodes[key], n)
	}
	for _, inv := range others {
		for _, n := range nodes[identityKey{inv.Node.Namespace, inv.Node.Form.Name, inv.Node.UID}] {
			if n.Is(inv) {
				m.of[n.Key()], m.recorded[inv.Node.Key()] = inv, true
			}
		}
	}
	return m
}

// obstacle returns why lynqctl must not change a node, and mostly nil.
func (m *misnamed) obstacle(n *plan.Node) error {
	inv := m.of[n.Key()]
	if inv == nil {
		return nil
	}
	return fmt.Errorf("its form %s and row %q are recorded by another name. Inventory %s/%s is that of node %s instead of %s (apply again. If there are inventories of both names, lynqctl inventory show tells what each has. To delete one of the nodes without its objects: lynqctl delete node NAME -n %[3]s --cascade=orphan)",
		n.Form, n.UID, inv.Node.Namespace, inventory.Name(inv.Node.Name), inv.Node.Name, n.Name)
}

// keepRefused notes the objects of refused nodes, under any recorded name. The plan doesn't
// have the needs of these nodes. Without the note, they would seem to give their objects
// away, and another node would take them.
func (d *decider) keepRefused() {
	refused := maps.Clone(d.misnamed.recorded)
	for k := range d.leaves {
		refused[k] = d.renamed[k] == nil // it keeps its objects
	}
	for k, r := range d.renamed {
		if r.now == nil || r.obstacle() != nil {
			refused[k] = true
		}
	}
	for k := range d.untouched {
		refused[k] = refused[k] || d.suspended(k) != nil
	}
	for _, n := range d.in.Desired.Nodes {
		if d.obstacle(n, d.inventories[n.Key()]) != nil {
			refused[n.Key()] = true
		}
	}
	d.held = map[lynq.Ref][]lynq.NodeKey{}
	for _, inv := range d.in.Recorded.Inventories {
		k := inv.Node.Key()
		if !refused[k] {
			continue
		}
		d.unknown[k] = true
		for i := range inv.Entries {
			d.held[inv.Entries[i].Ref] = append(d.held[inv.Entries[i].Ref], k)
		}
	}
}

// holder returns another, refused node that owns an object by inventory and tracking, or
// "".
func (d *decider) holder(me plan.Owner, l *tracking.Live) string {
	for _, name := range append([]lynq.Ref{l.Ref}, d.otherNames(l.Ref, l)...) {
		for _, k := range d.held[name] {
			if k != me.NodeKey && d.owner(k).Tracks(l) {
				return k.String()
			}
		}
	}
	return ""
}

// nameTaken returns an error that names the other node with this name. If only the hub's
// namespace differs, both are mostly one hub: its namespace changed, or the label of the
// inventory did. Then to delete the node would be wrong.
func nameTaken(n *plan.Node, inv *inventory.Inventory) error {
	same := n.NodeID
	same.Hub.Namespace = inv.Node.Hub.Namespace
	if other := inv.Node.Hub; (&plan.Node{NodeID: same}).Is(inv) {
		return fmt.Errorf("another hub of this name has the node. Inventory %s/%s belongs to hub %s, and not to hub %s (if they are one hub, set its metadata.namespace to %s, or restore label %s of the inventory. Otherwise rename a form, or put the nodes of one hub into another namespace)",
			inv.Node.Namespace, inventory.Name(inv.Node.Name), other, n.Hub, other.Namespace, wellknown.LabelHubNamespace)
	}
	return fmt.Errorf("another node has this name. Inventory %s/%s belongs to hub %s, form %s and row %q, not to hub %s, form %s and row %q (rename the form or uid. Or put the nodes of one hub into another namespace. To delete the other node: lynqctl delete node %s -n %s)",
		inv.Node.Namespace, inventory.Name(inv.Node.Name), inv.Node.Hub, inv.Node.Form, inv.Node.UID,
		n.Hub, n.Form, n.UID, inv.Node.Name, inv.Node.Namespace)
}
