package handover

import (
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// recordOf is what the node's inventory is to say before anything of it is touched:
// what it says already, and all that is the LynqNode's. Nothing counts as confirmed,
// so that the next apply looks at each object once. It tells whether that is more
// than there is.
func recordOf(n *Node, objects []Object, before *inventory.Inventory, finalizer bool) (inv *inventory.Inventory, changed bool) {
	if before != nil {
		inv = before.Clone()
	} else {
		inv = &inventory.Inventory{
			Node:     n.NodeID(),
			Activate: "true", TemplateGeneration: n.TemplateGeneration, RolloutStart: n.RolloutStart.UTC(),
			Status: n.Status, Finalizer: finalizer,
		}
		if n.RolloutStart.IsZero() {
			inv.RolloutStart = n.RolloutStart
		}
	}
	changed = before == nil
	for i := range objects {
		o := &objects[i]
		if o.Verdict != Take && o.Verdict != Had {
			continue
		}
		if _, known := inventory.Find(inv.Entries, o.Ref); known {
			continue
		}
		changed = true
		inv.Entries = append(inv.Entries, inventory.Entry{
			Ref: o.Ref, ID: o.ID, APIVersion: o.APIVersion, UID: string(o.Meta.UID),
			Lifecycle: o.Lifecycle, Order: o.Order,
		})
	}
	return inv, changed
}
