package metrics

import (
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// nodes are the nodes of hubs. If nodes have no series of their own, only hubs count of which a
// plan had all nodes.
type nodes map[lynq.HubKey]*hubNodes

// hubNodes are the known nodes of a hub.
type hubNodes struct {
	// whole is set if these are all nodes of the hub, so that they have a sum.
	whole bool
	by    map[lynq.NodeKey]*node
}

// node is a known node.
type node struct {
	form   string
	wanted bool
	// failed is set if it failed in its last run, whatever its inventory says.
	failed bool
	status inventory.Status // only its conditions and counts
}

// counts returns the counts and conditions of a status, without sharing memory.
func counts(s inventory.Status) inventory.Status {
	conditions := make([]inventory.Condition, len(s.Conditions))
	for i, c := range s.Conditions {
		conditions[i] = inventory.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason}
	}
	return inventory.Status{Desired: s.Desired, Ready: s.Ready, Failed: s.Failed, Skipped: s.Skipped, Conflicted: s.Conflicted, Conditions: conditions}
}

// plan takes the nodes of a hub from a plan. It returns the nodes that are gone.
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

// record takes the status of a node from its inventory.
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

// end notes how a run ended for a node.
func (ns nodes) end(hub lynq.HubKey, key lynq.NodeKey, well bool) {
	if h := ns[hub]; h != nil && h.by[key] != nil {
		h.by[key].failed = !well
	}
}

// ready and bad report whether a node counts as ready or bad for its hub.
func (n *node) ready() bool { return !n.failed && n.status.Is(inventory.ConditionReady) }

func (n *node) bad() bool { return n.failed || n.status.Is(inventory.ConditionDegraded) }
