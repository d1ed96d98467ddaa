package decide

import (
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Records are inventories, and what a run decides by them that has no forms: no node
// gives anything away in it.
type Records struct{ d *decider }

// NewRecords indexes inventories.
func NewRecords(inventories []*inventory.Inventory) *Records {
	return &Records{newDecider(&Input{Inventories: inventories})}
}

// Step decides an object whose node wants exactly what its entry records.
func (r *Records) Step(me plan.Owner, e *inventory.Entry, l *tracking.Live) plan.Step {
	return r.d.step(me, plan.AsRecorded(me, e), e, l)
}

// Holder names whose an object is, "" where it is the node's or has no owner.
func (r *Records) Holder(me plan.Owner, l *tracking.Live) string { return r.d.foreign(me, l) }

// NodeOf is the node that has an ApplySet id, false where no inventory does.
func (r *Records) NodeOf(partOf string) (lynq.NodeKey, bool) {
	k, known := r.d.applySets[partOf]
	return k, known
}
