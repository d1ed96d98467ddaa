package plan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Loss is what is wrong with an inventory that is to be restored. Losses are words
// that scripts may compare.
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
	Objects []Belonging
}

// Belonging is an object that belongs to an inventory.
type Belonging struct {
	Entry *inventory.Entry
	Live  *Live
}

// Restore finds what restoring inventories comes to, and why some of them cannot be
// restored; those that need nothing are left out. What belongs to an inventory by
// owner reference keeps doing so, whatever it is. What lost the reference gets it
// again where it is proven to be the node's.
//
// It is a pure function.
func Restore(inventories []*inventory.Inventory, seen *Observed) (restorations []Restoration, errs []error) {
	d := newDecider(&Input{Inventories: inventories})
	for _, inv := range inventories {
		r := Restoration{Inventory: inv, Loss: lossOf(inv)}
		lacking := false
		entries := inv.All()
		for i := range entries {
			e := &entries[i]
			owned, lacks := d.belongs(inv, e, seen.Live[e.Ref])
			if owned || lacks {
				r.Objects = append(r.Objects, Belonging{e, seen.Live[e.Ref]})
				lacking = lacking || lacks
			}
		}
		if r.Loss == "" && lacking {
			r.Loss = LossOwner
		}
		if r.Loss == "" {
			continue
		}
		if err := obstacleTo(inv, seen); err != nil {
			errs = append(errs, err)
			continue
		}
		restorations = append(restorations, r)
	}
	return restorations, errs
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
func (d *decider) belongs(inv *inventory.Inventory, r *inventory.Entry, l *Live) (owned, lacks bool) {
	if l == nil || l.Record {
		return false, false
	}
	me := NewOwner(NodeKey{inv.Namespace, inv.Node}, inv.Hub, inv)
	if me.Owns(l) {
		return true, false
	}
	proven := r.UID == string(l.UID) && l.Hub == inv.Hub && l.PartOf == me.PartOf && d.foreign(me, l) == ""
	return false, proven && asRecorded(me, r).Owned && l.Node == "" && !l.Deleting && !l.Orphaned && !l.Unmanaged
}

// obstacleTo is why an inventory cannot be restored. An object that was not seen may
// belong to it, and would go with the ConfigMap.
func obstacleTo(inv *inventory.Inventory, seen *Observed) error {
	if err := held(inv); err != nil {
		return err
	}
	for _, r := range inv.All() {
		err := seen.Unknown[r.Ref]
		if unserved := (*UnservedError)(nil); err != nil && !errors.As(err, &unserved) {
			return fmt.Errorf("inventory %s/%s: %w; it is not restored while it is not known which of its objects there are", inv.Namespace, inventory.Name(inv.Node), err)
		}
	}
	return nil
}

// held is that others keep an inventory from going that was deleted, nil where none do:
// only then another can take its place.
func held(inv *inventory.Inventory) error {
	if !inv.Deleting || inv.Finalizer && len(inv.Holders()) == 0 {
		return nil
	}
	who := "a finalizer"
	if holders := inv.Holders(); len(holders) > 0 {
		who = strings.Join(holders, ", ")
	}
	return fmt.Errorf("inventory %s/%s is being deleted, and %s holds it (run again when it is gone)", inv.Namespace, inventory.Name(inv.Node), who)
}

// Moved is the entry of an object whose metadata alone lynqctl changed, from then to
// now: an object that was as recorded still is.
func Moved(r inventory.Entry, then, now *Live) inventory.Entry {
	o := &Object{Policy: &lynq.Policy{Patch: r.Patch}}
	if r.UID == "" || r.UID != string(then.UID) || now.UID != then.UID || drifted(o, &r, then) {
		return r
	}
	r.Generation, r.ResourceVersion = now.Generation, now.ResourceVersion
	if o.Applied(r.Adopted) {
		r.Fields = now.Fields
	}
	return r
}
