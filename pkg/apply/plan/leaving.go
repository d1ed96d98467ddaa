package plan

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Leaving is a node without a row in its grace period. None of its objects changes, and
// only its inventory notes the end of the period. It isn't in any NodePlan.
type Leaving struct {
	lynq.NodeID
	Inventory *inventory.Inventory
	// Since is when a run first saw that the row is gone. Until is when lynqctl deletes the
	// node.
	Since, Until time.Time
	// Period is the deletionGracePeriod of the node's form.
	Period time.Duration
	// Begins is set if this run saw it first.
	Begins bool
}

// Marked returns the inventory of the node with the times of its grace period.
func (l *Leaving) Marked() *inventory.Inventory {
	next := l.Inventory.Clone()
	next.LeavingSince, next.LeavingUntil = l.Since, l.Until
	return next
}

// IsMarked reports whether the inventory has these times already.
func (l *Leaving) IsMarked() bool {
	return l.Inventory.LeavingSince.Equal(l.Since) && l.Inventory.LeavingUntil.Equal(l.Until)
}

// Wake returns the first end of a grace period in the plan, or zero.
func (p *Plan) Wake() time.Time {
	var first time.Time
	for i := range p.Leaving {
		if until := p.Leaving[i].Until; first.IsZero() || until.Before(first) {
			first = until
		}
	}
	return first
}

// Marks reports whether a run must note times of grace periods in inventories.
func (p *Plan) Marks() bool {
	for i := range p.Leaving {
		if !p.Leaving[i].IsMarked() {
			return true
		}
	}
	return false
}
