package decide

import (
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// purged plans an object that completed its work. An earlier run deleted it, or was about
// to. It returns false if the object must do its work again.
//
// The uid remains recorded until lynqctl sees that the object is gone. So lynqctl never
// deletes another object that somebody created with the same name.
func (d *decider) purged(me plan.Owner, s *plan.Step) bool {
	r, l := s.Entry, s.Live
	if r == nil || r.Phase != inventory.PhaseCompleted {
		return false
	}
	switch {
	case purges(me, r, l) && s.Object.Policy.PurgeOrder != nil:
		s.Action, s.Reason, s.Message = plan.ActionPurge, plan.ReasonCompleted, "its work is done"
		a := d.gate(&question{asker: askerPurge, me: me, entry: r, live: l, why: plan.ReasonCompleted, adopted: r.Adopted})
		if a.Action != plan.ActionDelete {
			s.Action, s.Reason, s.Message = plan.ActionSkip, a.Reason, a.Message
		}
	case s.Object.Completed(r):
		s.Action, s.Reason = plan.ActionKeep, plan.ReasonCompleted
	case l == nil:
		s.Action, s.Reason = plan.ActionCreate, plan.ReasonChanged
	default:
		return false
	}
	return true
}

// purges reports whether a node deletes an object that completed its work.
func purges(me plan.Owner, r *inventory.Entry, l *tracking.Live) bool {
	return l != nil && r.UID == string(l.UID) && me.Tracks(l) && l.TakenOver() == "" && !l.Unmanaged
}

// leavesDone reports whether another node leaves an existing object alone, because it did its
// work. Then nobody takes the object over. The old node must delete it, or remove its
// tracking: otherwise the garbage collector deletes the object with the old inventory.
func (d *decider) leavesDone(other lynq.NodeKey, q *question) bool {
	n := d.nodes[other]
	if n == nil || q.live == nil {
		return false
	}
	o := n.Object(q.ref(), 0)
	if o == nil {
		return false
	}
	var r *inventory.Entry
	if inv := d.inventories[other]; inv != nil {
		if own, found := inventory.Find(inv.Entries, q.ref()); found {
			r = &own
		}
	}
	if r == nil {
		r = d.completedBefore(n, o)
	}
	return r != nil && o.Completed(r) && !purges(d.owner(other), r, q.live)
}
