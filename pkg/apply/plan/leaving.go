package plan

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Leaving is a node whose row is gone and that is kept for its grace period: none of its
// objects changes, and only its inventory notes that it leaves. No NodePlan has it.
type Leaving struct {
	lynq.NodeID
	Inventory *inventory.Inventory
	// Since is when a run first saw its row gone, and Until when it is deleted.
	Since, Until time.Time
	// Begins: this run sees it first.
	Begins bool
}

// Marked is the inventory of the node as it notes that the node leaves.
func (l *Leaving) Marked() *inventory.Inventory {
	next := l.Inventory.Clone()
	next.LeavingSince, next.LeavingUntil = l.Since, l.Until
	return next
}

// IsMarked tells whether the inventory notes it already.
func (l *Leaving) IsMarked() bool {
	return l.Inventory.LeavingSince.Equal(l.Since) && l.Inventory.LeavingUntil.Equal(l.Until)
}

// Wake returns when the first node of a plan has been kept long enough, zero for none.
func (p *Plan) Wake() time.Time {
	var first time.Time
	for i := range p.Leaving {
		if until := p.Leaving[i].Until; first.IsZero() || until.Before(first) {
			first = until
		}
	}
	return first
}

// Marks tells whether a run of the plan has something to note of nodes that leave.
func (p *Plan) Marks() bool {
	for i := range p.Leaving {
		if !p.Leaving[i].IsMarked() {
			return true
		}
	}
	return false
}
