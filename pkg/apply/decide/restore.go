package decide

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// restoring decides how to restore inventories.
type restoring struct{ records *Records }

// Restorations returns a restoration for each inventory with a loss, and errors for those that
// can't be restored. Objects that refer to an inventory keep their owner reference,
// whatever they are. Objects without the reference get it back if lynqctl can prove that
// they belong to the node. An object that the last apply excluded doesn't change.
//
// It is a pure function.
func Restorations(inventories []*inventory.Inventory, seen *plan.Observed) (restorations []plan.Restoration, errs []error) {
	records := NewRecords(inventories)
	referring := seen.Referring()
	for _, inv := range inventories {
		r := restoring{records}.restoration(inv, seen)
		if r.Loss == "" {
			continue
		}
		err := obstacleTo(inv, seen)
		if inv.Deleting {
			r.Replacement = plan.Replace(inv, seen, referring[types.UID(inv.UID)], excludedBefore)
			err = r.Replacement.Stays
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		restorations = append(restorations, r)
	}
	return restorations, errs
}

// RestoredInventories returns the inventories of restorations that delete an old inventory.
func RestoredInventories(restorations []plan.Restoration) []plan.LeavingInventory {
	var leaving []plan.LeavingInventory
	for i := range restorations {
		if r := &restorations[i]; r.Replacement != nil && r.UID != "" {
			leaving = append(leaving, plan.LeavingInventoryOf(r.Inventory, func(lynq.Ref) bool { return false }))
		}
	}
	return leaving
}

// excludedBefore returns why a recorded object must not change, or "". It knows only the
// last apply, because restore has no forms.
func excludedBefore(r *inventory.Entry) string {
	if r.Excluded {
		return "it was excluded when its form was last applied"
	}
	return ""
}

// restoration returns the loss of an inventory and the objects that must belong to it.
func (re restoring) restoration(inv *inventory.Inventory, seen *plan.Observed) plan.Restoration {
	r := plan.Restoration{Inventory: inv, Loss: plan.LossOf(inv)}
	entries := inv.All()
	for i := range entries {
		e := &entries[i]
		if e.Excluded {
			continue
		}
		owned, lacks := re.belongs(inv, e, seen.Live[e.Ref])
		if owned || lacks {
			r.Objects = append(r.Objects, plan.Belonging{Entry: e, Live: seen.Live[e.Ref]})
		}
		if lacks && r.Loss == "" {
			r.Loss = plan.LossOwner
		}
	}
	return r
}

// belongs reports whether an object has an owner reference to an inventory, or lacks one.
// It requires the same proof as any write: tracking and entry.
func (re restoring) belongs(inv *inventory.Inventory, r *inventory.Entry, l *tracking.Live) (owned, lacks bool) {
	if l == nil || l.Record {
		return false, false
	}
	me := plan.NewOwner(inv.Node.Key(), inv.Node.Hub, inv)
	if me.Owns(l) {
		return true, false
	}
	proven := r.UID == string(l.UID) && me.SameHub(l) && l.PartOf == me.PartOf && re.records.Holder(me, l) == ""
	return false, proven && plan.AsRecorded(me, r).Owned && l.Node == "" && !l.Deleting && !l.Orphaned && !l.Unmanaged
}

// obstacleTo returns an error if lynqctl doesn't know which of an inventory's objects
// exist. Without that, it can't give them an owner.
func obstacleTo(inv *inventory.Inventory, seen *plan.Observed) error {
	for _, r := range inv.All() {
		err := seen.Unknown[r.Ref]
		if unserved := (*plan.UnservedError)(nil); err != nil && !errors.As(err, &unserved) {
			return fmt.Errorf("inventory %s/%s: %w; lynqctl can't restore it until it knows which of its objects exist", inv.Node.Namespace, inventory.Name(inv.Node.Name), err)
		}
	}
	return nil
}
