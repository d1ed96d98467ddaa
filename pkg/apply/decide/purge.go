package decide

import (
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/inventory"
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
	ours := l != nil && r.UID == string(l.UID) && me.Tracks(l) && l.TakenOver() == "" && !l.Unmanaged
	switch {
	case ours && s.Object.Policy.PurgeOrder != nil:
		s.Action, s.Reason, s.Message = plan.ActionPurge, reason.Completed, "its work is done"
		a := d.gate(&question{asker: askerPurge, me: me, entry: r, live: l, why: reason.Completed, adopted: r.Adopted})
		if a.Action != plan.ActionDelete {
			s.Action, s.Reason, s.Message = plan.ActionSkip, a.Reason, a.Message
		}
	case s.Object.Completed(r):
		s.Action, s.Reason = plan.ActionKeep, reason.Completed
	case l == nil:
		s.Action, s.Reason = plan.ActionCreate, reason.Changed
	default:
		return false
	}
	return true
}
