package plan

import "github.com/lynqctl/lynqctl/pkg/inventory"

// Verdict is what has become of a step that is decided again.
type Verdict uint8

// The verdicts.
const (
	// VerdictHolds: the step is what was planned, for the object as it is now.
	VerdictHolds Verdict = iota
	// VerdictChanged: the step is another one now.
	VerdictChanged
	// VerdictStopped: nothing may be done, for the reason that the step's message gives.
	VerdictStopped
)

// Recheck decides a step of a node again, by the rules that made the plan, on the
// object as it is now: nil where there is none. The plan may be long made when the
// turn of a step comes: a rollout waits, an object waits for what it depends on.
// saved is the node's inventory as the run saved it last, nil where there is none.
//
// It is a pure function.
func (p *Plan) Recheck(n *NodePlan, saved *inventory.Inventory, s *Step, now *Live) (Step, Verdict) {
	again := p.decideAgain(NewOwner(n.NodeKey, n.Hub, saved), s.recordedIn(saved), now)
	again.Entry = s.Entry
	switch {
	case again.Action == ActionDelete && s.Exact && changedSince(s.Live, now):
		again.Message = "it was changed after it was " + s.lookedAt() + ", so that it stays; run again"
		return again, VerdictStopped
	case again.Action != s.Action, (again.Live == nil) != (s.Live == nil), again.way() != s.way():
		return again, VerdictChanged
	}
	return again, VerdictHolds
}

// lookedAt is what was done with the object that an exact step deletes.
func (s *Step) lookedAt() string {
	if s.Reason == ReasonTombstone {
		return "looked at"
	}
	return "backed up"
}

func (p *Plan) decideAgain(me Owner, s *Step, now *Live) Step {
	switch {
	case s.Reason == ReasonHeld, p.rules != nil && p.rules.holding && s.Object == nil && s.To == (NodeKey{}):
		again := *s
		again.Live = now
		return again
	case s.Stone != nil:
		return p.rules.recheckAlone(s, now, AskerTombstone)
	case s.Reason == ReasonPruned:
		return rulesFor(p.Hub, nil).recheckAlone(s, now, AskerPrune)
	case s.Object != nil:
		return p.rules.recheckWanted(me, s, now)
	}
	return p.rules.recheckLeaving(me, s, now)
}

// recordedIn is the step with what the inventory has recorded of its object since
// the plan was made: that this run is to make it, which tells what it has made.
func (s *Step) recordedIn(saved *inventory.Inventory) *Step {
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

// way is the reason of a step where it decides how the step is carried out.
func (s *Step) way() Reason {
	switch s.Reason {
	case ReasonTakeover, ReasonUnmanaged:
		return s.Reason
	}
	return ""
}

// recheckWanted is Recheck for an object that its node wants.
func (d *decider) recheckWanted(me Owner, s *Step, now *Live) Step {
	again := d.step(me, s.Object, s.Entry, now)
	switch {
	case s.Reason == ReasonTakeover && now != nil && s.Live != nil && now.UID == s.Live.UID && again.Writes():
		// The marks of others may be gone because this step took them off.
		if again.Reason != ReasonTakeover {
			again.Action, again.Reason, again.Message = s.Action, s.Reason, s.Message
		}
	case s.Reason == ReasonDeleting && now == nil:
		again.Reason = ReasonDeleting
	case s.Action == ActionRecreate && now == nil:
		again.Action, again.Reason = s.Action, s.Reason // half of it is done
	case s.Action == ActionUpdate && again.Action == ActionRecreate:
		again.Action = ActionUpdate // the server said that it need not be
	}
	return again
}

// Writes tells whether a step brings an object that is there to what is desired.
func (s *Step) Writes() bool {
	if s.Reason == ReasonUnmanaged {
		return false
	}
	switch s.Action {
	case ActionUpdate, ActionRecreate, ActionAdopt, ActionTrack:
		return s.Live != nil
	}
	return false
}

// recheckLeaving is Recheck for an object that its node wants no more.
func (d *decider) recheckLeaving(me Owner, s *Step, now *Live) Step {
	again := d.leavingStep(me, s.Entry, now, s.Reason)
	again.Exact = s.Exact
	deletes := again.Action == ActionDelete
	switch {
	case s.remade(now) && (deletes || again.Action == ActionOrphan || again.Reason == ReasonTakenOver):
		again.Action, again.Reason, again.Message = ActionRelease, ReasonTakenOver, remade
	case !deletes:
	case s.Action == ActionCollect && me.Collected(now):
		again.Action = ActionCollect
	case s.Action != ActionCollect && s.Action != ActionDelete:
		// What the plan keeps is not deleted.
		again = *s
		again.Live = now
	}
	return again
}

// recheckAlone is Recheck for an object that no node has: an orphan that a person prunes,
// or one that a tombstone names.
func (d *decider) recheckAlone(s *Step, now *Live, who Asker) Step {
	again := *s
	again.Live = now
	switch {
	case now == nil:
		again.Action, again.Reason = ActionRelease, ReasonAlreadyGone
	case s.remade(now):
		again.Action, again.Message = ActionSkip, remade
	case s.Action == ActionDelete:
		if again.ask(d, who); again.Action == ActionDelete {
			again.Message = s.Message
		}
	}
	return again
}

const remade = "it was deleted, and another client made it again"

// remade tells whether an object is another than the one that was planned for.
func (s *Step) remade(now *Live) bool {
	return now != nil && s.Live != nil && now.UID != s.Live.UID
}

// changedSince tells whether the content of an object may have changed.
func changedSince(then, now *Live) bool {
	return now.ResourceVersion != then.ResourceVersion && !now.Deleting &&
		(now.Generation == 0 || now.Generation != then.Generation)
}
