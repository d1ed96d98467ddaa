package plan

import (
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// drifting is whether others changed what we wrote.
type drifting uint8

const (
	driftNone drifting = iota
	// driftPossible: the object changed, and maybe no field that we manage. A run looks at
	// the object; whoever only reads its metadata does not call that drift.
	driftPossible
	// driftCertain: a field that we manage has another value, or is gone.
	driftCertain
)

// driftOf is the one rule for what drifted. Whoever changes a field that we manage takes
// it from us, so that what we manage tells, whatever else happened to the object. What
// the form does not set cannot drift: replicas that an autoscaler sets, for one.
func driftOf(o *Object, r *inventory.Entry, l *Live) drifting {
	switch {
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
func appliedDrift(o *Object, r *inventory.Entry, l *Live) drifting {
	switch {
	case l.Fields == "" || l.Fields != r.Fields || l.Updated || o.Overrides(l):
		return driftCertain
	case unrecorded(r, l):
		return driftPossible
	}
	return driftNone
}
