package apply

import (
	"context"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/gate"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/progress"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// record is the inventory of a node, as the run saved it last.
type record struct {
	inventories Inventories
	requests    *requests
	plan        *plan.NodePlan
	steps       *progress.Steps
	finalizer   bool
	version     string // of lynqctl
	saved       *inventory.Inventory
}

func (r *record) save(next *inventory.Inventory) error {
	saved, err := r.inventories.Save(r.requests.ctx, next)
	if err != nil {
		return err
	}
	r.saved = saved
	return nil
}

// exists tells whether the cluster has the inventory.
func (r *record) exists() bool { return r.saved != nil && r.saved.UID != "" }

// next is the inventory with what the row and the form say now.
func (r *record) next() *inventory.Inventory { return r.plan.NextInventory(r.saved, r.finalizer) }

// gone tells whether nothing keeps the inventory of a node that goes.
func (r *record) gone() bool { return r.plan.Desired == nil && len(r.steps.Left()) == 0 }

// owner is the node as its objects' tracking has it.
func (r *record) owner() plan.Owner { return plan.NewOwner(r.plan.Key(), r.plan.Hub, r.saved) }

// ownerReference is the reference to the node's inventory. It does not say
// blockOwnerDeletion: where OwnerReferencesPermissionEnforcement is on, that needs
// the right to change the finalizers of ConfigMaps, and all it does is to hold an
// inventory that is deleted in the foreground, which our own finalizer does.
func (r *record) ownerReference() map[string]any {
	uid := string(placeholderUID)
	if r.exists() {
		uid = r.saved.UID
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "name": inventory.Name(r.plan.Name), "uid": uid,
		"controller": true,
	}
}

// intent is what the node had and what it will have. added: it names an object that the
// record does not name yet. changes: some object is written.
func (r *record) intent() (next *inventory.Inventory, added, changes bool) {
	next = r.next()
	var desired, completed []inventory.Entry
	for i := range r.steps.Of {
		s := &r.steps.Of[i]
		if s.Unrecorded = r.contested(s); s.Object == nil || s.Unrecorded {
			continue
		}
		switch s.Action {
		case plan.ActionCreate, plan.ActionUpdate, plan.ActionRecreate, plan.ActionAdopt, plan.ActionTrack:
			e := s.NextEntry()
			// One that is gone is another one when it is created: only its tracking
			// can prove whose that is until it is confirmed.
			gone := s.Live == nil && e.UID != ""
			if gone {
				next.Entries = inventory.Forget(next.Entries, e.Ref)
			}
			desired = append(desired, e)
			added = added || s.Entry == nil || gone || s.Entry.Phase != ""
			changes = true
		case plan.ActionKeep:
			if r.lacks(s) {
				completed, added = append(completed, s.NextEntry()), true
			}
		}
	}
	next.Entries = append(inventory.Intent(next.Entries, desired), completed...)
	return next, added, changes
}

// lacks tells whether an object did its work while its node had another name, so that
// only the inventory of that name says so.
func (r *record) lacks(s *progress.Step) bool {
	if s.Action != plan.ActionKeep || s.Reason != reason.Completed || s.Object == nil {
		return false
	}
	if r.saved == nil {
		return true
	}
	_, has := inventory.Find(r.saved.Entries, s.Object.Ref)
	return !has
}

// check makes sure that the inventory is there where a step makes it an owner of an object
// that exists. With an owner that is gone, the garbage collector deletes the object.
func (r *record) check() error {
	me := r.owner()
	for i := range r.steps.Of {
		if s := &r.steps.Of[i]; s.Writes() && s.Object != nil && s.Object.Owned && !me.Owns(s.Live) {
			return r.inventories.Check(r.requests.ctx, r.saved)
		}
	}
	return nil
}

// confirmed is the inventory with what the node has now.
func (r *record) confirmed() *inventory.Inventory {
	next := r.saved.Clone()
	next.Activate = "false"
	if r.plan.Desired != nil {
		next = r.next()
	}
	next.Entries = r.steps.Confirmed()
	r.steps.ConfirmHooks(next, r.plan.Desired != nil)
	return next
}

// remove deletes the inventory of a node whose objects are gone.
func (r *record) remove() error {
	permit, err := gate.PermitInventory(r.plan, r.saved, r.steps.Left())
	if err != nil {
		return err
	}
	return r.inventories.Remove(r.requests.ctx, r.saved, permit)
}

// contested tells whether a step is tried before it is recorded. It takes an object that
// the node does not have, and the last run of the node failed: where it failed by a conflict
// over this object, recording it first would write the record in each run, twice. With
// conflictPolicy Force there is no such conflict.
func (r *record) contested(s *progress.Step) bool {
	takes := s.Action == plan.ActionAdopt || s.Action == plan.ActionUpdate
	lacks := s.Entry == nil || s.Entry.Phase == inventory.PhaseCompleted
	return takes && s.Object != nil && lacks && s.Live != nil && s.Object.Policy.Conflict != lynq.ConflictForce &&
		!r.requests.dryRun && r.exists() && r.saved.Status.Is(inventory.ConditionDegraded)
}

// going records an object by an entry that no write has confirmed.
func (r *record) going(s *progress.Step, e inventory.Entry) error {
	next := r.saved.Clone()
	next.Entries = inventory.Intent(inventory.Forget(next.Entries, e.Ref), []inventory.Entry{e})
	if err := r.save(next); err != nil {
		return err
	}
	s.Becomes(s.Recorded(&e))
	s.Record = &e
	return nil
}

// remake makes the ConfigMap again where it is deleted or gone.
func (r *record) remake(ctx context.Context, detach func() (gate.Permit, error)) (err error) {
	switch {
	case r.saved.Deleting:
		r.saved, err = r.inventories.Restore(ctx, r.saved, detach)
		return err
	case r.saved.UID == "":
		return r.save(r.saved)
	}
	return nil
}

// moved records what the owner references changed of objects, which would look
// like a change of others else.
func (r *record) moved() error {
	next := r.saved.Clone()
	for i := range r.steps.Of {
		s := &r.steps.Of[i]
		at := slices.IndexFunc(next.Entries, func(e inventory.Entry) bool { return e.Ref == s.Entry.Ref })
		if at >= 0 {
			next.Entries[at] = *s.Record
		}
	}
	if inventory.Equal(r.saved, next) {
		return nil
	}
	return r.save(next)
}

// differs tells whether the record is to be written again, and sets its version.
// That this version renders it too is not worth a write; that no version is known
// any more to render all of it, is.
func (r *record) differs(next *inventory.Inventory) bool {
	differs := !inventory.Equal(r.saved, next)
	switch {
	case next.Version == r.version:
	case r.rendered():
		next.Version = r.version
	default:
		differs = differs || next.Version != ""
		next.Version = ""
	}
	return differs
}

// settles tells whether nothing is recorded of the node that another version may
// render otherwise.
func (r *record) settles() bool {
	return r.saved == nil || r.saved.Version == "" || r.saved.Version == r.version || r.rendered()
}

// rendered tells whether all that is recorded as written is what was rendered now.
func (r *record) rendered() bool {
	return r.plan.Desired != nil && r.plan.Desired.Failed == nil && r.steps.Rendered()
}
