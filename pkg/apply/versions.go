package apply

import (
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// differs tells whether the record is to be written again, and sets its version.
// That this version renders it too is not worth a write; that no version is known
// any more to render all of it, is.
func (n *nodeRun) differs(next *inventory.Inventory) bool {
	differs := !inventory.Equal(n.inventory, next)
	switch {
	case next.Version == n.Options.Version:
	case n.rendered():
		next.Version = n.Options.Version
	default:
		differs = differs || next.Version != ""
		next.Version = ""
	}
	return differs
}

// settles tells whether nothing is recorded of the node that another version may
// render otherwise.
func (n *nodeRun) settles() bool {
	return n.inventory == nil || n.inventory.Version == "" || n.inventory.Version == n.Options.Version || n.rendered()
}

// rendered tells whether all that is recorded as written is what was rendered now.
func (n *nodeRun) rendered() bool {
	if n.plan.Desired == nil || n.plan.Desired.Failed != nil {
		return false
	}
	for i := range n.steps {
		r := n.steps[i].entry
		if r == nil || r.Digest == "" || r.Creation == lynq.CreateOnce {
			continue
		}
		if o := n.steps[i].Object; o == nil || o.Digest != r.Digest {
			return false
		}
	}
	return true
}
