package plan

import (
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// MayHaveDrifted tells whether others may have changed what we wrote, so that a run has to look.
func MayHaveDrifted(o *Object, r *inventory.Entry, l *tracking.Live) bool {
	return driftOf(o, r, l) != driftNone
}

// Repairs tells whether fields that others hold now can only be ours, which were
// changed since: the object is ours, and either wants nothing new, or was changed by
// others since we wrote it.
func (s *Step) Repairs() bool {
	if s.Action != ActionUpdate && s.Action != ActionRecreate || s.Entry == nil || s.Live == nil || s.Entry.Digest == "" || s.Entry.UID != string(s.Live.UID) {
		return false
	}
	return s.Entry.Digest == s.Object.Digest || MayHaveDrifted(s.Object, s.Entry, s.Live)
}

// unrecorded tells whether we applied an object after what is recorded of it, as
// a run does that is killed before it has recorded that. Most such writes show
// in their time; these are from the same second.
func unrecorded(r *inventory.Entry, l *tracking.Live) bool {
	return l.Last && l.ResourceVersion != r.ResourceVersion || l.LastButStatus && l.Generation != r.Generation
}

// drifting is whether others changed what we wrote.
type drifting uint8

const (
	driftNone drifting = iota
	// driftPossible: the object changed, and maybe no field that we manage. A plan asks the
	// server; whoever only reads metadata does not call that drift.
	driftPossible
	// driftCertain: a field that we manage has another value, or is gone.
	driftCertain
)

// driftOf is the one rule for what drifted. Whoever changes a field that we manage takes
// it from us, so that what we manage tells, whatever else happened to the object. What
// the form does not set cannot drift: replicas that an autoscaler sets, for one.
func driftOf(o *Object, r *inventory.Entry, l *tracking.Live) drifting {
	switch {
	case l.Intact:
		return driftNone
	case o.Applied(r.Adopted):
		return appliedDrift(o, r, l)
	case l.ResourceVersion == r.ResourceVersion:
		return driftNone
	case r.Fields != "" && l.Own(r.Defaults) != r.Fields:
		return driftCertain
	}
	// A merge or a replacement does not manage a field that had its value before.
	return driftPossible
}

// appliedDrift is driftOf for what is written by server-side apply.
func appliedDrift(o *Object, r *inventory.Entry, l *tracking.Live) drifting {
	switch {
	case l.Fields == "" || l.Fields != r.Fields || l.Updated || o.Overrides(l):
		return driftCertain
	case unrecorded(r, l):
		return driftPossible
	}
	return driftNone
}

// Drifted tells whether others certainly changed what we wrote of the object of a step.
func (s *Step) Drifted() bool { return driftOf(s.Object, s.Entry, s.Live) == driftCertain }

// Doubtful tells of a step that repairs drift whether a write might change nothing: the
// server has to be asked. lynqctl itself may have written last and recorded nothing, or
// another client may have changed what the form doesn't set.
func (s *Step) Doubtful() bool {
	if s.Reason != reason.Drifted || s.Object == nil || s.Entry == nil || s.Live == nil {
		return false
	}
	return !s.Object.Applied(s.Entry.Adopted) || s.Live.LastButStatus
}
