package plan

import (
	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
)

// MayHaveDrifted reports whether others may have changed fields that lynqctl wrote, so that
// a run must check.
func MayHaveDrifted(o *Object, r *inventory.Entry, l *tracking.Live) bool {
	return driftOf(o, r, l) != driftNone
}

// Repairs reports whether a step may take fields back that others manage now. The object
// must be ours. Either it has no new content, or others have changed it since lynqctl wrote
// it.
func (s *Step) Repairs() bool {
	if s.Action != ActionUpdate && s.Action != ActionRecreate || s.Entry == nil || s.Live == nil || s.Entry.Digest == "" || s.Entry.UID != string(s.Live.UID) {
		return false
	}
	return s.Entry.Digest == s.Object.Digest && s.Object.Marked(s.Live) || MayHaveDrifted(s.Object, s.Entry, s.Live)
}

// Unaltered reports whether the manifest of an object is the one that lynqctl wrote last. So
// any difference comes from other clients.
func (s *Step) Unaltered() bool {
	return s.Object != nil && s.Entry != nil && s.Live != nil && s.Entry.UID == string(s.Live.UID) && s.Entry.Digest == s.Object.Digest
}

// unrecorded reports whether lynqctl applied an object after its entry. That happens if a
// run is killed before it saves the entry. Most such writes differ in their time, and this
// finds those within the same second.
func unrecorded(r *inventory.Entry, l *tracking.Live) bool {
	return l.Last && l.ResourceVersion != r.ResourceVersion || l.LastButStatus && l.Generation != r.Generation
}

// drifting says whether others changed fields that lynqctl wrote.
type drifting uint8

const (
	driftNone drifting = iota
	// driftPossible means that the object changed, but maybe in no field that lynqctl
	// manages. A plan asks the server. A caller with metadata only doesn't call it drift.
	driftPossible
	// driftCertain means that a managed field has another value or is missing.
	driftCertain
)

// driftOf is the only rule for drift. Another client that changes a managed field takes it
// from lynqctl, so the set of managed fields shows drift reliably. Fields outside the form
// can't drift, for example replicas that an autoscaler sets.
func driftOf(o *Object, r *inventory.Entry, l *tracking.Live) drifting {
	switch {
	case l.Intact:
		return driftNone
	case o.Applied(r.Adopted):
		return appliedDrift(o, r, l)
	case l.ResourceVersion == r.ResourceVersion && !l.Retired:
		return driftNone
	case r.Fields != "" && l.Own(r.Defaults) != r.Fields:
		return driftCertain
	}
	// A merge or a replacement doesn't manage a field that already had its value.
	return driftPossible
}

// appliedDrift is driftOf for objects that lynqctl writes by server-side apply.
func appliedDrift(o *Object, r *inventory.Entry, l *tracking.Live) drifting {
	switch {
	case l.Fields == "" || l.Fields != r.Fields || l.Updated || o.Overrides(l), o.contested(l):
		return driftCertain
	case unrecorded(r, l), l.Retired: // a write of a retired version says what is wrong
		return driftPossible
	}
	return driftNone
}

// contested reports whether other clients have fields now that the manifest sets. The object
// shows that, whatever its entry says, which others may write.
func (o *Object) contested(l *tracking.Live) bool {
	if l.Few == nil || l.Few.Others == nil || len(o.Policy.IgnoreFields) > 0 {
		return false
	}
	taken, err := fields.Contested(l.Few.Ours, l.Few.Others, o.Body)
	return err == nil && taken
}

// Drifted reports whether others certainly changed fields that lynqctl wrote.
func (s *Step) Drifted() bool { return driftOf(s.Object, s.Entry, s.Live) == driftCertain }

// Doubtful reports whether a repair of drift might change nothing, so that lynqctl must ask
// the server. lynqctl itself may have written last without an entry. Or another client may
// have changed fields outside the form.
func (s *Step) Doubtful() bool {
	if s.Reason != ReasonDrifted || s.Object == nil || s.Entry == nil || s.Live == nil {
		return false
	}
	if s.Live.Fields == s.Entry.Fields && s.Object.contested(s.Live) {
		return true // only the managers show drift, and not the entry
	}
	if !kinds.BuiltIn(s.Object.Group) && s.Object.Body.HasEmpty() {
		return true // perhaps only its controller filled an empty value
	}
	return !s.Object.Applied(s.Entry.Adopted) || s.Live.LastButStatus
}
