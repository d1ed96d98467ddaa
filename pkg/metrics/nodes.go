package metrics

import (
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// nodes are those of each hub that was planned as a whole, or, where there is a series for
// each node, of each that was planned.
type nodes map[lynq.HubKey]*hubNodes

// hubNodes is what is known of a hub's nodes.
type hubNodes struct {
	// whole: all nodes of the hub are known, and can be summed.
	whole bool
	by    map[lynq.NodeKey]*node
}

// node is what is known of one.
type node struct {
	form   string
	wanted bool
	// failed: the last run with it did not end well, whatever its record says.
	failed bool
	status inventory.Status // with its conditions and counts alone
}

// counts are those of a status, with the conditions, which do not share memory with it.
func counts(s inventory.Status) inventory.Status {
	conditions := make([]inventory.Condition, len(s.Conditions))
	for i, c := range s.Conditions {
		conditions[i] = inventory.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason}
	}
	return inventory.Status{Desired: s.Desired, Ready: s.Ready, Failed: s.Failed, Skipped: s.Skipped, Conflicted: s.Conflicted, Conditions: conditions}
}

// plan takes over what a plan says of a hub. It returns the nodes that are gone.
func (ns nodes) plan(p *plan.Plan) (gone []lynq.NodeKey) {
	if p.After {
		return nil
	}
	h := ns[p.Hub]
	before := h
	if h == nil || p.Whole {
		h = &hubNodes{by: map[lynq.NodeKey]*node{}}
		ns[p.Hub] = h
	}
	h.whole = h.whole || p.Whole
	for _, key := range p.Gone {
		delete(h.by, key)
	}
	for i := range p.Leaving {
		delete(h.by, p.Leaving[i].Key()) // no row wants it
	}
	for i := range p.Nodes {
		of := &p.Nodes[i]
		n := &node{form: of.Form.Name, wanted: of.Desired != nil}
		n.failed = n.wanted && of.Desired.Failed != nil
		if of.Inventory != nil {
			n.status = counts(of.Inventory.Status)
		}
		h.by[of.Key()] = n
	}
	if before == nil {
		return nil
	}
	if before == h {
		return p.Gone
	}
	for key := range before.by {
		if h.by[key] == nil {
			gone = append(gone, key)
		}
	}
	return gone
}

// record takes over what a record says of its node.
func (ns nodes) record(inv *inventory.Inventory, gone bool) {
	key := inv.Node.Key()
	h := ns[inv.Node.Full().Hub]
	switch {
	case h == nil:
	case gone:
		delete(h.by, key)
	case h.by[key] != nil:
		h.by[key].status = counts(inv.Status)
	}
}

// end takes over how a run ended with a node.
func (ns nodes) end(hub lynq.HubKey, key lynq.NodeKey, well bool) {
	if h := ns[hub]; h != nil && h.by[key] != nil {
		h.by[key].failed = !well
	}
}

// ready and bad tell whether a node counts as such for its hub.
func (n *node) ready() bool { return !n.failed && n.status.Is(inventory.ConditionReady) }

func (n *node) bad() bool { return n.failed || n.status.Is(inventory.ConditionDegraded) }
