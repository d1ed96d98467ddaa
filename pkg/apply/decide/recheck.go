package decide

import (
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

type rechecking struct{ d *decider }

// Verdict compares a new decision with the planned step.
type Verdict uint8

// The verdicts.
const (
	// VerdictHolds means that the step is as planned, for the current object.
	VerdictHolds Verdict = iota
	// VerdictChanged means that the step is now another one.
	VerdictChanged
	// VerdictStopped means that lynqctl may do nothing. The step's message says why.
	VerdictStopped
)

// Recheck decides a step of a node again by the plan's rules. now is the current object,
// nil if it doesn't exist. The plan may be old when a step gets its turn, because rollouts
// and dependencies wait. saved is the node's inventory as this run saved it last, or nil.
//
// It is a pure function.
func Recheck(p *plan.Plan, n *plan.NodePlan, saved *inventory.Inventory, s *plan.Step, now *tracking.Live) (plan.Step, Verdict) {
	again := Again(p, n, saved, s, now)
	again.Entry = s.Entry
	switch {
	case again.Action == plan.ActionDelete && s.Exact && changedSince(s.Live, now):
		again.Message = "another client changed it after it was " + lookedAt(s) + ", so lynqctl keeps it; run again"
		return again, VerdictStopped
	case again.Action != s.Action, (again.Live == nil) != (s.Live == nil), way(&again) != way(s):
		return again, VerdictChanged
	}
	return again, VerdictHolds
}

// lookedAt says what lynqctl did before with the object that an exact step deletes.
func lookedAt(s *plan.Step) string {
	if s.Reason == plan.ReasonTombstone {
		return "looked at"
	}
	return "backed up"
}

// Again decides a step of a node again for the current object, without a comparison.
// Recheck compares the result for the run. It is a pure function.
func Again(p *plan.Plan, n *plan.NodePlan, saved *inventory.Inventory, s *plan.Step, now *tracking.Live) plan.Step {
	me := plan.NewOwner(n.Key(), n.Hub, saved)
	d := rulesOf(p)
	s = recordedIn(s, saved)
	switch {
	case s.Reason == plan.ReasonHeld, d != nil && d.holding && s.Object == nil && s.To == nil:
		again := *s
		again.Live = now
		return again
	case s.Stone != nil:
		return rechecking{d}.recheckAlone(s, now, askerTombstone)
	case s.Reason == plan.ReasonPruned:
		return rechecking{rulesFor(p.Hub, nil)}.recheckAlone(s, now, askerPrune)
	case s.Object != nil:
		return rechecking{d}.recheckWanted(me, s, now)
	}
	return rechecking{d}.recheckLeaving(me, s, now)
}

// recordedIn returns the step with its entry in the inventory as this run saved it. That
// entry proves that this run creates the object.
func recordedIn(s *plan.Step, saved *inventory.Inventory) *plan.Step {
	if s.Entry != nil || saved == nil {
		return s
	}
	r, found := inventory.Find(saved.Entries, s.Object.Ref)
	if !found {
		return s
	}
	recorded := *s
	recorded.Entry = &r
	return &recorded
}

// way returns the reason of a step if that decides how to execute it, and "" otherwise.
func way(s *plan.Step) plan.Reason {
	switch s.Reason {
	case plan.ReasonTakeover, plan.ReasonUnmanaged:
		return s.Reason
	}
	return ""
}

// recheckWanted is Recheck for a desired object.
func (r rechecking) recheckWanted(me plan.Owner, s *plan.Step, now *tracking.Live) plan.Step {
	again := r.d.step(me, s.Object, s.Entry, now)
	switch {
	case again.Action == plan.ActionTrack && r.d.in.Options.KeepContent && (s.Live == nil || remadeSince(s, now)):
		// The user asked for the object that existed, and not for one that somebody created
		// since.
		again.Action, again.Reason, again.Message = plan.ActionSkip, plan.ReasonReplaced, remade
	case s.Reason == plan.ReasonTakeover && now != nil && s.Live != nil && now.UID == s.Live.UID && again.Writes():
		// This step itself may have removed the marks of others.
		if again.Reason != plan.ReasonTakeover {
			again.Action, again.Reason, again.Message = s.Action, s.Reason, s.Message
		}
	case s.Reason == plan.ReasonDeleting && now == nil:
		again.Reason = plan.ReasonDeleting
	case s.Action == plan.ActionRecreate && now == nil:
		again.Action, again.Reason = s.Action, s.Reason // half of it is done
	case s.Action == plan.ActionUpdate && again.Action == plan.ActionRecreate:
		again.Action = plan.ActionUpdate // the server said that a recreation isn't necessary
	}
	return again
}

// recheckLeaving is Recheck for an object that its node no longer needs.
func (r rechecking) recheckLeaving(me plan.Owner, s *plan.Step, now *tracking.Live) plan.Step {
	again := r.d.leavingStep(me, s.Entry, now, s.Reason)
	again.Exact = s.Exact
	deletes := again.Action == plan.ActionDelete
	switch {
	case remadeSince(s, now) && (deletes || again.Action == plan.ActionOrphan || again.Reason == plan.ReasonTakenOver):
		again.Action, again.Reason, again.Message = plan.ActionRelease, plan.ReasonTakenOver, remade
	case !deletes:
	case s.Action == plan.ActionCollect && me.Collected(now):
		again.Action = plan.ActionCollect
	case s.Action != plan.ActionCollect && s.Action != plan.ActionDelete:
		// Never delete an object that the plan keeps.
		again = *s
		again.Live = now
	}
	return again
}

// recheckAlone is Recheck for an object without a node: a pruned orphan, or an object of a
// tombstone.
func (r rechecking) recheckAlone(s *plan.Step, now *tracking.Live, who asker) plan.Step {
	again := *s
	again.Live = now
	switch {
	case now == nil:
		again.Action, again.Reason = plan.ActionRelease, plan.ReasonAlreadyGone
	case remadeSince(s, now):
		again.Action, again.Message = plan.ActionSkip, remade
	case s.Action == plan.ActionDelete:
		if ask(&again, r.d, who); again.Action == plan.ActionDelete {
			again.Message = s.Message
		}
	}
	return again
}

const remade = "another client deleted it and created it again"

// remadeSince reports whether the object isn't the planned one any more.
func remadeSince(s *plan.Step, now *tracking.Live) bool {
	return now != nil && s.Live != nil && now.UID != s.Live.UID
}

// changedSince reports whether the content of an object may have changed.
func changedSince(then, now *tracking.Live) bool {
	return now.ResourceVersion != then.ResourceVersion && !now.Deleting &&
		(now.Generation == 0 || now.Generation != then.Generation)
}
