package apply

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// record is the inventory of a node as the run saved it last.
type record struct {
	inventories Inventories
	requests    *requests
	plan        *plan.NodePlan
	steps       *Steps
	finalizer   bool
	version     string // the version of lynqctl
	saved       *inventory.Inventory
}

func (r *record) save(next *inventory.Inventory) error {
	saved, err := saveOn(r.requests.ctx, r.inventories, r.saved, next)
	if err != nil {
		return err
	}
	r.saved = saved
	return nil
}

// saveOn saves an inventory. read is the saved one that next is made from, or nil. If
// another client changed only its own fields meanwhile, such as a label, it saves next with
// these.
func saveOn(ctx context.Context, inventories Inventories, read, next *inventory.Inventory) (*inventory.Inventory, error) {
	for try := 1; ; try++ {
		saved, err := inventories.Save(ctx, next)
		if !apierrors.IsConflict(err) || read == nil || try == write.MaxTries {
			return saved, err
		}
		again, rereadErr := inventories.Reread(ctx, read)
		if rereadErr != nil {
			return nil, errors.Join(err, rereadErr)
		}
		read, next = again, next.On(again)
	}
}

// exists reports whether the cluster has the inventory.
func (r *record) exists() bool { return r.saved != nil && r.saved.UID != "" }

// next returns the inventory with the current data of row and form.
func (r *record) next() *inventory.Inventory { return r.plan.NextInventory(r.saved, r.finalizer) }

// gone reports whether lynqctl may delete the inventory of a deleted node.
func (r *record) gone() bool { return r.plan.Desired == nil && len(r.steps.Left()) == 0 }

// owner returns the node as the tracking of its objects names it.
func (r *record) owner() plan.Owner { return plan.NewOwner(r.plan.Key(), r.plan.Hub, r.saved) }

// ownerReference returns the reference to the node's inventory. It doesn't set
// blockOwnerDeletion. If OwnerReferencesPermissionEnforcement is on, that needs permission
// to change the finalizers of ConfigMaps. It would only block a foreground deletion of the
// inventory, which our own finalizer does already.
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

// intent returns the inventory with the node's old and new objects. added is set if the
// saved inventory lacks one of them. changes is set if the run writes an object.
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
			// A recreated object has another uid. Until its write is confirmed, only its
			// tracking proves the owner.
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

// lacks reports whether an object did its work under its node's earlier name. Then only the
// inventory with that name says so.
func (r *record) lacks(s *Step) bool {
	if s.Action != plan.ActionKeep || s.Reason != plan.ReasonCompleted || s.Object == nil {
		return false
	}
	if r.saved == nil {
		return true
	}
	_, has := inventory.Find(r.saved.Entries, s.Object.Ref)
	return !has
}

// check checks that the inventory exists before a step makes it an owner of an existing
// object. The garbage collector deletes objects with a missing owner.
func (r *record) check() error {
	me := r.owner()
	for i := range r.steps.Of {
		if s := &r.steps.Of[i]; s.Writes() && s.Object != nil && s.Object.Owned && !me.Owns(s.Live) {
			return r.inventories.Check(r.requests.ctx, r.saved)
		}
	}
	return nil
}

// confirmed returns the inventory with the node's current objects.
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

// remove deletes the inventory of a node after its objects are gone.
func (r *record) remove() error {
	var referring []lynq.Ref
	if r.exists() {
		var err error
		if referring, err = r.referring(r.steps.Absent()); err != nil {
			return err
		}
	}
	for try := 1; ; try++ {
		permit, err := decide.PermitInventory(r.plan, r.saved, r.steps.Left(), referring)
		if err != nil {
			return err
		}
		err = r.inventories.Remove(r.requests.ctx, r.saved, permit)
		if !apierrors.IsConflict(err) || try == write.MaxTries {
			return err
		}
		again, rereadErr := r.inventories.Reread(r.requests.ctx, r.saved)
		if rereadErr != nil {
			return errors.Join(err, rereadErr)
		}
		r.saved = again
	}
}

// contested reports whether the server must try a step before the inventory records it. The
// step takes an object that the node doesn't own, and the node's last run failed. If a
// conflict over this object was the cause, recording it first would write the inventory
// twice in every run. With conflictPolicy Force there is no such conflict.
func (r *record) contested(s *Step) bool {
	takes := s.Action == plan.ActionAdopt || s.Action == plan.ActionUpdate
	lacks := s.Entry == nil || s.Entry.Phase == inventory.PhaseCompleted
	return takes && s.Object != nil && lacks && s.Live != nil && s.Object.Policy.Conflict != lynq.ConflictForce &&
		!r.requests.dryRun && r.exists() && r.saved.Status.Is(inventory.ConditionDegraded)
}

// going records an object with an entry that no write has confirmed.
func (r *record) going(s *Step, e inventory.Entry) error {
	next := r.saved.Clone()
	next.Entries = inventory.Intent(inventory.Forget(next.Entries, e.Ref), []inventory.Entry{e})
	if err := r.save(next); err != nil {
		return err
	}
	s.Becomes(s.Recorded(&e))
	s.Record = &e
	return nil
}

// remake creates the ConfigMap again if somebody deleted it.
func (r *record) remake(ctx context.Context, detach func() (decide.Permit, error)) (err error) {
	switch {
	case r.saved.Deleting:
		r.saved, err = r.inventories.Restore(ctx, r.saved, detach)
		return err
	case r.saved.UID == "":
		return r.save(r.saved)
	}
	return nil
}

// moved records the new versions of objects with changed owner references. Otherwise these
// would look like changes of others.
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

// differs reports whether the inventory must be written, and sets its version. It isn't
// written only because this version of lynqctl renders the same. It is written if no known
// version still renders all of it.
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

// settles reports whether no entry depends on the version of lynqctl.
func (r *record) settles() bool {
	return r.saved == nil || r.saved.Version == "" || r.saved.Version == r.version || r.rendered()
}

// rendered reports whether all recorded writes match the objects that this run rendered.
func (r *record) rendered() bool {
	return r.plan.Desired != nil && r.plan.Desired.Failed == nil && r.steps.Rendered()
}
