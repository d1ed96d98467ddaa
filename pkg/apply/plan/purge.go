package plan

import (
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// purged plans an object whose work was done and which a run deleted, or was about to.
// False means that it is as if it had never been so: it has to do its work, again.
//
// The uid stays recorded until the object is seen gone, so that no other object is
// deleted for it: whoever made one of its name since keeps it.
func (d *decider) purged(me Owner, s *Step) bool {
	r, l := s.Entry, s.Live
	if r == nil || r.Phase != inventory.PhaseCompleted {
		return false
	}
	ours := l != nil && r.UID == string(l.UID) && me.Tracks(l) && l.takenOver() == "" && !l.Unmanaged
	switch {
	case ours && s.Object.Policy.PurgeOrder != nil:
		s.Action, s.Reason, s.Message = ActionPurge, ReasonCompleted, "its work is done"
		a := d.gate(&question{asker: AskerPurge, me: me, entry: r, live: l, why: ReasonCompleted, adopted: r.Adopted})
		if a.Action != ActionDelete {
			s.Action, s.Reason, s.Message = ActionSkip, a.Reason, a.Message
		}
	case s.Object.Completed(r):
		s.Action, s.Reason = ActionKeep, ReasonCompleted
	case l == nil:
		s.Action, s.Reason = ActionCreate, ReasonChanged
	default:
		return false
	}
	return true
}

// Purges tells whether the run deletes the object of a step when its work is done. What
// existed before the node had it is never purged.
func (s *Step) Purges() bool {
	if s.Object == nil || s.Object.Policy.PurgeOrder == nil || s.Adopted || s.Action == ActionAdopt {
		return false
	}
	switch s.Action {
	case ActionSkip, ActionBlock:
		return false
	}
	return s.Reason != ReasonLeftOut && s.Reason != ReasonUnmanaged && s.Reason != ReasonCompleted
}

// Completed tells whether an entry says that an object did its work, as it is wanted
// now. What is created once does it once.
func (o *Object) Completed(r *inventory.Entry) bool {
	return r.Phase == inventory.PhaseCompleted && o.Policy.PurgeOrder != nil && (r.Digest == o.Digest || o.Policy.Creation == lynq.CreateOnce)
}

// complete makes of what is recorded of an object next that its work is done. The uid
// goes with the object.
func (s *Step) complete(next *inventory.Entry) {
	next.Phase, next.Digest, next.Template, next.Ready = s.Entry.Phase, s.Entry.Digest, s.Entry.Template, true
	if s.Live == nil || string(s.Live.UID) != s.Entry.UID {
		next.UID, next.Generation, next.ResourceVersion, next.Fields = "", 0, "", ""
	}
}

// Unpurged tells whether the record of an object says that its work is done, and has to
// say something else: that it is gone, or wanted for good.
func (s *Step) Unpurged() bool {
	if s.Entry.Phase == "" {
		return false
	}
	next := s.NextEntry()
	return next.Phase != s.Entry.Phase || next.UID != s.Entry.UID
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
