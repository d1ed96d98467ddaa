package apply

// A plan may be long made when the turn of a step comes: a rollout waits, an object
// waits for what it depends on. Whatever is found then is decided on by the rules
// that made the plan.

// course is what a step has come to.
type course uint8

const (
	// courseHolds: the step is what was planned, for the object as it is now.
	courseHolds course = iota
	// courseTurns: the step is another one now.
	courseTurns
	// courseStops: nothing may be done, for the reason that the step's message gives.
	courseStops
)

// recheck decides a step once more, on the object as it is now: nil where there is
// none. It is a pure function.
func (d *decider) recheck(me owner, s *Step, now *Live) (Step, course) {
	var again Step
	switch {
	case s.Object != nil:
		again = d.recheckWanted(me, s, now)
	case s.Reason == ReasonPruned:
		again = recheckOrphan(s, now)
	default:
		again = d.recheckLeaving(me, s, now)
	}
	switch {
	case again.Action == ActionDelete && s.Exact && changedSince(s.Live, now):
		again.Message = "it was changed after it was backed up, so that it stays; run again"
		return again, courseStops
	case again.Action != s.Action, (again.Live == nil) != (s.Live == nil), again.way() != s.way():
		return again, courseTurns
	}
	return again, courseHolds
}

// way is the reason of a step where it decides how the step is carried out.
func (s *Step) way() Reason {
	switch s.Reason {
	case ReasonTakeover, ReasonUnmanaged:
		return s.Reason
	}
	return ""
}

// recheckWanted is recheck for an object that its node wants.
func (d *decider) recheckWanted(me owner, s *Step, now *Live) Step {
	again := d.step(me, s.Object, s.Record, now)
	switch {
	case s.Reason == ReasonTakeover && now != nil && s.Live != nil && now.UID == s.Live.UID && again.writes():
		// The marks of others may be gone because this step took them off.
		if again.Reason != ReasonTakeover {
			again.Action, again.Reason, again.Message = s.Action, s.Reason, s.Message
		}
	case s.Reason == ReasonDeleting && now == nil:
		again.Reason = ReasonDeleting
	}
	return again
}

// writes tells whether a step brings an object that is there to what is desired.
func (s *Step) writes() bool {
	if s.Reason == ReasonUnmanaged {
		return false
	}
	switch s.Action {
	case ActionUpdate, ActionAdopt, ActionTrack:
		return s.Live != nil
	}
	return false
}

// recheckLeaving is recheck for an object that its node wants no more.
func (d *decider) recheckLeaving(me owner, s *Step, now *Live) Step {
	again := d.leavingStep(me, s.Record, now, s.Reason)
	again.Exact = s.Exact
	deletes := again.Action == ActionDelete
	switch {
	case s.remade(now) && (deletes || again.Action == ActionOrphan || again.Reason == ReasonTakenOver):
		again.Action, again.Reason, again.Message = ActionRelease, ReasonTakenOver, remade
	case !deletes:
	case s.Action == ActionCollect && me.collected(now):
		again.Action = ActionCollect
	case s.Action != ActionCollect && s.Action != ActionDelete:
		// What the plan keeps is not deleted.
		again = *s
		again.Live = now
	}
	return again
}

// recheckOrphan is recheck for an orphan that a person wants no more.
func recheckOrphan(s *Step, now *Live) Step {
	again := *s
	again.Live = now
	switch {
	case now == nil:
		again.Action, again.Reason = ActionRelease, ReasonAlreadyGone
	case s.remade(now):
		again.Action, again.Message = ActionSkip, remade
	case now.NoOrphan() != "":
		again.Action, again.Message = ActionSkip, now.NoOrphan()
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
