package handover

import (
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// recordOf returns the inventory that the node needs before lynqctl changes any of its
// objects: the entries that it has, and one for each object of the LynqNode. New entries are
// unconfirmed, so the next apply looks at each object once. changed reports whether the
// saved inventory lacks something.
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
		if o.Step.Action != plan.ActionTrack && o.Step.Action != plan.ActionKeep {
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
