package restore

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// restoring decides what inventories get back.
type restoring struct{ records *decide.Records }

// Loss names the defect of an inventory that restore repairs. Scripts may compare the
// words.
type Loss string

// The losses.
const (
	// LossDeleted: its deletion was requested, and our finalizer holds it, or a run that
	// restored it was killed and left the copy.
	LossDeleted Loss = "Deleted"
	// LossGone: there is none, and it is made of what objects say.
	LossGone Loss = "Gone"
	// LossOwner: objects that belong to it have no owner reference to it.
	LossOwner Loss = "OwnerReferences"
)

// Restoration is an inventory that is to be restored.
type Restoration struct {
	*inventory.Inventory
	Loss Loss
	// Objects are those that are to belong to it by owner reference.
	Objects []plan.Belonging
	// Replacement is how it is replaced, nil where it need not go.
	Replacement *plan.Replacement
}

// Find finds what restoring inventories comes to, and why some of them cannot be
// restored; those that need nothing are left out. What belongs to an inventory by
// owner reference keeps doing so, whatever it is. What lost the reference gets it
// again where it is proven to be the node's. An object that the last apply excluded does
// not change.
//
// It is a pure function.
func Find(inventories []*inventory.Inventory, seen *plan.Observed) (restorations []Restoration, errs []error) {
	records := decide.NewRecords(inventories)
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

// excludedBefore is why a recorded object must not change, as far as that is known
// without the inputs, "" where it may.
func excludedBefore(r *inventory.Entry) string {
	if r.Excluded {
		return "it was excluded when its form was last applied"
	}
	return ""
}

// restoration is what an inventory lost, and which objects are to belong to it.
func (re restoring) restoration(inv *inventory.Inventory, seen *plan.Observed) Restoration {
	r := Restoration{Inventory: inv, Loss: lossOf(inv)}
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
			r.Loss = LossOwner
		}
	}
	return r
}

func lossOf(inv *inventory.Inventory) Loss {
	switch {
	case inv.Deleting || inv.UID == "" && inv.Copy != "":
		return LossDeleted
	case inv.UID == "":
		return LossGone
	}
	return ""
}

// belongs tells whether an object has an owner reference to an inventory, or lacks the
// one that it is to have. The latter has to be proven like all that is written to
// objects: by tracking and record.
func (re restoring) belongs(inv *inventory.Inventory, r *inventory.Entry, l *tracking.Live) (owned, lacks bool) {
	if l == nil || l.Record {
		return false, false
	}
	me := plan.NewOwner(inv.Node.Key(), inv.Node.Hub, inv)
	if me.Owns(l) {
		return true, false
	}
	proven := r.UID == string(l.UID) && l.Hub == inv.Node.Hub.Name && l.PartOf == me.PartOf && re.records.Holder(me, l) == ""
	return false, proven && plan.AsRecorded(me, r).Owned && l.Node == "" && !l.Deleting && !l.Orphaned && !l.Unmanaged
}

// obstacleTo is why the objects of an inventory that stays, or is gone, cannot be given
// to it: it is not known which there are.
func obstacleTo(inv *inventory.Inventory, seen *plan.Observed) error {
	for _, r := range inv.All() {
		err := seen.Unknown[r.Ref]
		if unserved := (*plan.UnservedError)(nil); err != nil && !errors.As(err, &unserved) {
			return fmt.Errorf("inventory %s/%s: %w; lynqctl can't restore it until it knows which of its objects exist", inv.Node.Namespace, inventory.Name(inv.Node.Name), err)
		}
	}
	return nil
}
