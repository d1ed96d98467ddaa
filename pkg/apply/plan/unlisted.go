package plan

import (
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// An Unlisted object refers to an inventory that doesn't list it.
type Unlisted struct {
	*tracking.Live
	// Excluded says why the object must not change, or is "".
	Excluded string
}

// UnlistedWarning warns the user about an object that loses its owner reference.
const UnlistedWarning = "its owner is the node's inventory, which doesn't list it: lynqctl takes that owner reference off, so that the garbage collector keeps the object"

// Stays returns why the object must keep its owner reference, or nil. Then the inventory
// stays too, and keeps its objects of that kind.
func (s Unlisted) Stays() error {
	if s.Excluded == "" {
		return nil
	}
	return fmt.Errorf("its owner is the node's inventory, which doesn't list it, and it must not change: %s (%s)", s.Excluded, fixExcluded)
}

// Tells returns what a dry run tells the user about the object.
func (s Unlisted) Tells() string {
	if err := s.Stays(); err != nil {
		return err.Error()
	}
	return UnlistedWarning
}

// Loosens lists the unlisted objects from which the run removes the owner reference if it
// succeeds.
func (p *NodePlan) Loosens() []Unlisted {
	if p.Replacement != nil {
		var unlisted []Unlisted
		for _, l := range p.Replacement.Unlisted {
			unlisted = append(unlisted, Unlisted{Live: l})
		}
		return unlisted
	}
	return slices.DeleteFunc(slices.Clone(p.Unlisted), func(l Unlisted) bool { return p.keepsLike(l.Ref) })
}

// keepsLike reports whether a step keeps the inventory, or an object in it of the kind and
// namespace of another.
func (p *NodePlan) keepsLike(o lynq.Ref) bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool {
		switch {
		case (s.Action == ActionSkip || s.Action == ActionBlock) && (p.Desired != nil || s.Entry != nil):
		case p.Desired == nil || s.Object == nil || s.Purges():
			return false // a hook of a deleted node is deleted too
		}
		return p.Desired == nil || s.Ref().GroupKind() == o.GroupKind() && s.Ref().Namespace == o.Namespace
	})
}

// A LeavingInventory is one that a run may delete, or that may lose its last objects of some
// kinds. Copies of such objects refer to it. The garbage collector deletes them with it, and
// no later run finds them.
type LeavingInventory struct {
	Inventory *inventory.Inventory
	// Entries are the objects of these kinds in the inventory's namespace.
	Entries []inventory.Entry
}

// LeavingInventoryOf returns an inventory that lynqctl deletes, as far as keeps is
// false.
func LeavingInventoryOf(inv *inventory.Inventory, keeps func(lynq.Ref) bool) LeavingInventory {
	leaving := LeavingInventory{Inventory: inv}
	for _, e := range inv.All() {
		if e.Namespace == inv.Node.Namespace && !keeps(e.Ref) {
			leaving.Entries = append(leaving.Entries, e)
		}
	}
	return leaving
}

// LeavingInventories returns the leaving inventories of a plan. An unchanged node has none.
func (p *Plan) LeavingInventories() []LeavingInventory {
	var leaving []LeavingInventory
	for i := range p.Nodes {
		n := &p.Nodes[i]
		keeps := n.keepsLike
		switch {
		case n.Inventory == nil || n.Inventory.UID == "":
			continue // no object can refer to it
		case n.Desired != nil && n.Desired.Failed != nil:
			continue // the run keeps the node as it is
		case n.Replacement != nil:
			keeps = func(lynq.Ref) bool { return false }
		}
		if one := LeavingInventoryOf(n.Inventory, keeps); len(one.Entries) > 0 {
			leaving = append(leaving, one)
		}
	}
	return leaving
}
