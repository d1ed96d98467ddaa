package plan

import (
	"fmt"
	"maps"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// misnamed finds nodes of the run that are recorded by another name than theirs:
// what gives nodes their names did not see that inventory, or there are two. Making
// another one, or letting that one go, would be a guess about its objects.
type misnamed struct {
	of       map[NodeKey]*inventory.Inventory // by the nodes of the run
	recorded map[NodeKey]bool                 // by the names in the inventories
}

// identityKey is what a node is, but for its hub and the namespace of its form,
// which old inventories do not say (see Node.is).
type identityKey struct{ namespace, form, uid string }

func (d *decider) findMisnamed() misnamed {
	var strays []*inventory.Inventory // that are not of the node of their name
	for _, inv := range d.Inventories {
		if n := d.nodes[NodeKey{inv.Namespace, inv.Node}]; n == nil || !n.is(inv) {
			strays = append(strays, inv)
		}
	}
	m := misnamed{of: map[NodeKey]*inventory.Inventory{}, recorded: map[NodeKey]bool{}}
	if len(strays) == 0 {
		return m
	}
	nodes := make(map[identityKey][]*Node, len(d.Nodes))
	for _, n := range d.Nodes {
		key := identityKey{n.Namespace, n.Form, n.UID}
		nodes[key] = append(nodes[key], n)
	}
	for _, inv := range strays {
		for _, n := range nodes[identityKey{inv.Namespace, inv.Form, inv.RowUID}] {
			if n.is(inv) {
				m.of[n.NodeKey], m.recorded[NodeKey{inv.Namespace, inv.Node}] = inv, true
			}
		}
	}
	return m
}

// obstacle is why a node is not touched, nil for most.
func (m *misnamed) obstacle(n *Node) error {
	inv := m.of[n.NodeKey]
	if inv == nil {
		return nil
	}
	return fmt.Errorf("its form %s and row %q are recorded by another name: inventory %s/%s is that of node %s, and would have to be that of node %s (apply again; if there are inventories of both names, lynqctl inventory show tells what each has, and lynqctl delete node NAME -n %[3]s --cascade=orphan lets one of the nodes go without its objects)",
		n.formKey(), n.UID, inv.Namespace, inventory.Name(inv.Node), inv.Node, n.Name)
}

// keepRefused notes what refused nodes have, by whatever name it is recorded. What
// they want is not in the plan, so that it must not seem that they want it no more:
// another node would take what they have.
func (d *decider) keepRefused() {
	refused := maps.Clone(d.misnamed.recorded)
	for _, n := range d.Nodes {
		if d.obstacle(n, d.inventories[n.NodeKey]) != nil {
			refused[n.NodeKey] = true
		}
	}
	d.held = map[lynq.Ref][]NodeKey{}
	for _, inv := range d.Inventories {
		k := NodeKey{inv.Namespace, inv.Node}
		if !refused[k] {
			continue
		}
		d.unknown[k] = true
		for i := range inv.Entries {
			d.held[inv.Entries[i].Ref] = append(d.held[inv.Entries[i].Ref], k)
		}
	}
}

// holder is a refused node, another than me, that has an object by its record and
// its tracking, "" for none.
func (d *decider) holder(me Owner, l *Live) string {
	for _, k := range d.held[l.Ref] {
		if k != me.NodeKey && d.owner(k).Tracks(l) {
			return k.String()
		}
	}
	return ""
}
