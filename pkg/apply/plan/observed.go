package plan

import (
	"maps"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Observed has the live objects that nodes need or inventories list. An object in none of
// its maps doesn't exist.
type Observed struct {
	Live map[lynq.Ref]*tracking.Live
	// Unknown has the objects that lynqctl couldn't read, with the error. They may exist.
	// Objects of a kind can share one error.
	Unknown map[lynq.Ref]error
	// Misplaced has the objects that can't exist, because they have a namespace and their
	// kind has none, or vice versa.
	Misplaced map[lynq.Ref]*ScopeError
	// Unlisted are objects that refer to one of the inventories. The run found them in lists,
	// without looking for them.
	Unlisted map[lynq.Ref]*tracking.Live
}

// Add adds unlisted objects and unknown objects of another observation. It reports whether any is new.
func (o *Observed) Add(more *Observed) bool {
	added := len(more.Unknown) > 0
	maps.Copy(o.Unknown, more.Unknown)
	for ref, l := range more.Unlisted {
		if o.Live[ref] == nil && o.Unlisted[ref] == nil {
			o.Unlisted[ref], added = l, true
		}
	}
	return added
}

// UnknownOf says why lynqctl doesn't know which objects of an inventory exist. It returns
// nil if it does.
func (o *Observed) UnknownOf(inv *inventory.Inventory) error {
	for _, r := range inv.All() {
		if err := o.Unknown[r.Ref]; err != nil {
			return err
		}
	}
	return nil
}

// Unlooked returns the objects that lynqctl needn't read because they did their work. The
// node owns no object with such a name, and none is desired.
func Unlooked(nodes []*Node, inventories []*inventory.Inventory) map[lynq.Ref]bool {
	purged := map[lynq.Ref]*inventory.Entry{}
	unlooked := map[lynq.Ref]bool{}
	for _, inv := range inventories {
		if inv.Deleting {
			continue // objects with this name may be deleted with the inventory
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
