package plan

import (
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Observed holds the live objects that nodes want or inventories name. An object that
// is in none of its maps is absent.
type Observed struct {
	Live map[lynq.Ref]*tracking.Live
	// Unknown has the objects that may be there and could not be looked at, and
	// why. What a whole kind has in common is one error.
	Unknown map[lynq.Ref]error
	// Misplaced has the objects that cannot be there, since their kind has
	// namespaces and they have none, or the other way round.
	Misplaced map[lynq.Ref]*ScopeError
	// Strays are objects that refer to one of the inventories, and were not looked for:
	// lists showed them.
	Strays map[lynq.Ref]*tracking.Live
}

// UnknownOf says why lynqctl can't know which objects of an inventory exist; nil where
// it knows.
func (o *Observed) UnknownOf(inv *inventory.Inventory) error {
	for _, r := range inv.All() {
		if err := o.Unknown[r.Ref]; err != nil {
			return err
		}
	}
	return nil
}

// Unlooked are the objects that need not be looked at, for they did their work: none of
// that name is the node's, and none is wanted.
func Unlooked(nodes []*Node, inventories []*inventory.Inventory) map[lynq.Ref]bool {
	purged := map[lynq.Ref]*inventory.Entry{}
	unlooked := map[lynq.Ref]bool{}
	for _, inv := range inventories {
		if inv.Deleting {
			continue // whatever has its name may go with the inventory
		}
		for i := range inv.Entries {
			if r := &inv.Entries[i]; r.Purged() {
				purged[r.Ref], unlooked[r.Ref] = r, true
			}
		}
	}
	if len(purged) == 0 {
		return nil
	}
	for _, n := range nodes {
		for i := range n.Objects {
			o := &n.Objects[i]
			if r := purged[o.Ref]; r != nil && !o.Completed(r) {
				delete(unlooked, o.Ref)
			}
		}
	}
	return unlooked
}
