package decide

import (
	"errors"
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// judgeSuspended finds the nodes that a person suspended, and the nodes that continue them.
// lynqctl leaves both alone, whatever their rows say.
func (d *decider) judgeSuspended() {
	for _, inv := range d.in.Recorded.Inventories {
		s := inv.Suspended(d.in.Now)
		if s == nil {
			continue
		}
		why := &plan.SuspendedError{Suspension: *s}
		d.untouched[inv.Node.Key()], d.unknown[inv.Node.Key()] = why, true
		if r := d.renamed[inv.Node.Key()]; r != nil && r.now != nil {
			r.of.untouched[r.now.Key()], r.of.unknown[r.now.Key()] = why, true
		}
	}
}

// suspended returns why a node is suspended, or nil.
func (d *decider) suspended(k lynq.NodeKey) *plan.SuspendedError {
	why := (*plan.SuspendedError)(nil)
	errors.As(d.untouched[k], &why)
	return why
}

// leftAlone plans a suspended node: nothing. The inventory may be nil.
func leftAlone(id lynq.NodeID, inv *inventory.Inventory, why *plan.SuspendedError) plan.NodePlan {
	return plan.NodePlan{NodeID: id, Inventory: inv, Desired: &plan.Node{NodeID: id}, Unmet: why.Error(), Suspended: true}
}

// notSuspended requires that nobody suspended the object's node.
func notSuspended(d *decider, q *question) *answer {
	if why := d.suspended(q.me.NodeKey); why != nil {
		return keep(plan.ReasonSuspended, "its node is "+why.Error())
	}
	return nil
}

// refuseSuspended refuses to delete suspended nodes that the user named.
func (d *decider) refuseSuspended() []plan.Refusal {
	var refusals []plan.Refusal
	for _, inv := range d.in.Recorded.Inventories {
		key := inv.Node.Key()
		why := d.suspended(key)
		if why == nil || !d.in.Scope.Delete[key] {
			continue
		}
		r := plan.Refusal{
			Guard: plan.GuardSuspended, Hub: d.in.Hub, What: fmt.Sprintf("node %s is %s", key, why),
			Fix: fmt.Sprintf("to delete it, run lynqctl resume node %s -n %s first", key.Name, key.Namespace),
		}
		if d.in.Recorded.Tree { // only removed files make a tree delete a node that it keeps
			r.What = fmt.Sprintf("files of node %s are gone, and it is %s", key, why)
			r.Fix = fmt.Sprintf("restore its files from Git, or run lynqctl resume node %s -n %s --output-dir DIR first", key.Name, key.Namespace)
		}
		refusals = append(refusals, r)
	}
	return refusals
}
