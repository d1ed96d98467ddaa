package plan

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

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
	// Replacement is how it is replaced, nil where it need not go.
	Replacement *Replacement
}

// Belonging is an object that belongs to an inventory.
type Belonging struct {
	Entry *inventory.Entry
	Live  *Live
}

// Restore finds what restoring inventories comes to, and why some of them cannot be
// restored; those that need nothing are left out. What belongs to an inventory by
// owner reference keeps doing so, whatever it is. What lost the reference gets it
// again where it is proven to be the node's. An object that the last apply excluded does
// not change.
//
// It is a pure function.
func Restore(inventories []*inventory.Inventory, seen *Observed) (restorations []Restoration, errs []error) {
	d := newDecider(&Input{Inventories: inventories})
	referring := seen.Referring()
	for _, inv := range inventories {
		r := d.restoration(inv, seen)
		if r.Loss == "" {
			continue
		}
		err := obstacleTo(inv, seen)
		if inv.Deleting {
			r.Replacement = Replace(inv, seen, referring[types.UID(inv.UID)], excludedBefore)
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
func (d *decider) restoration(inv *inventory.Inventory, seen *Observed) Restoration {
	r := Restoration{Inventory: inv, Loss: lossOf(inv)}
	entries := inv.All()
	for i := range entries {
		e := &entries[i]
		if e.Excluded {
			continue
		}
		owned, lacks := d.belongs(inv, e, seen.Live[e.Ref])
		if owned || lacks {
			r.Objects = append(r.Objects, Belonging{e, seen.Live[e.Ref]})
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

// obstacleTo is why the objects of an inventory that stays, or is gone, cannot be given
// to it: it is not known which there are.
func obstacleTo(inv *inventory.Inventory, seen *Observed) error {
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
