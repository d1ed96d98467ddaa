package decide

import (
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Records decides from inventories, for commands without forms. No node gives anything away
// there.
type Records struct{ d *decider }

// NewRecords indexes inventories.
func NewRecords(inventories []*inventory.Inventory) *Records {
	return &Records{newDecider(&Input{Recorded: Recorded{Inventories: inventories}})}
}

// Step decides an object with the desired state of its entry.
func (r *Records) Step(me plan.Owner, e *inventory.Entry, l *tracking.Live) plan.Step {
	return r.d.step(me, plan.AsRecorded(me, e).MarkedAs(l), e, l)
}

// Holder returns the owner of an object, or "" if it belongs to the node or has no owner.
func (r *Records) Holder(me plan.Owner, l *tracking.Live) string { return r.d.foreign(me, l) }

// NodeOf returns the node with an ApplySet id. It returns false if no inventory has it.
func (r *Records) NodeOf(partOf string) (lynq.NodeKey, bool) {
	k, known := r.d.applySets()[partOf]
	return k, known
}
