package plan

import (
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Alone returns the objects that a plan deletes and that no node has: those of tombstones.
func (p *Plan) Alone() []*tracking.Live {
	var alone []*tracking.Live
	for i := range p.Nodes {
		for j := range p.Nodes[i].Steps {
			if s := &p.Nodes[i].Steps[j]; s.Stone != nil && s.Deletes() {
				alone = append(alone, s.Live)
			}
		}
	}
	return alone
}

// EachDelete calls a function for every step that deletes an object.
func EachDelete(plans []Plan, each func(*NodePlan, *Step)) {
	for i := range plans {
		for j := range plans[i].Nodes {
			n := &plans[i].Nodes[j]
			for k := range n.Steps {
				if s := &n.Steps[k]; s.Action == ActionDelete {
					each(n, s)
				}
			}
		}
	}
}

// Deletes reports whether the step deletes an existing object, or leaves it to the garbage
// collector.
func (s *Step) Deletes() bool {
	switch s.Action {
	case ActionDelete, ActionCollect, ActionPurge, ActionRecreate:
		return s.Live != nil
	case ActionCreate: // a hook deletes the object of an earlier attempt
		return s.Live != nil && s.Object != nil && s.Object.Policy.Hook()
	}
	return false
}

// Deletes reports whether plans delete any object.
func Deletes(plans []Plan) bool {
	for i := range plans {
		for j := range plans[i].Nodes {
			for k := range plans[i].Nodes[j].Steps {
				if s := &plans[i].Nodes[j].Steps[k]; s.Deletes() || s.Purges() {
					return true
				}
			}
		}
	}
	return false
}

// Leaves reports whether plans delete an object or a node, or orphan an object.
func Leaves(plans []Plan) bool {
	return Deletes(plans) || slices.ContainsFunc(plans, func(p Plan) bool {
		return slices.ContainsFunc(p.Nodes, func(n NodePlan) bool {
			return n.Desired == nil && !n.Moves() || slices.ContainsFunc(n.Steps, func(s Step) bool { return s.Object == nil && s.Action == ActionOrphan })
		})
	})
}

// Purges reports whether the run deletes the object after its work is done. lynqctl never
// purges an adopted object.
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

// Writes reports whether a step writes an existing object.
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

// Recreates reports whether an update may delete an object and create it again.
func (s *Step) Recreates() bool {
	return s.Object != nil && s.Live != nil && s.Object.Policy.Patch == lynq.PatchRecreate && s.InPlace == "" &&
		(s.Action == ActionUpdate || s.Action == ActionRecreate)
}

// A run never changes a step of its plan. These functions return a new step with the run's
// results.

// As returns the step with another action and reason.
func (s *Step) As(a Action, r Reason) Step {
	next := *s
	next.Action, next.Reason = a, r
	return next
}

// Recorded returns the step with another entry.
func (s *Step) Recorded(r *inventory.Entry) Step {
	next := *s
	next.Entry = r
	return next
}

// Seen returns the step with the current live object.
func (s *Step) Seen(now *tracking.Live) Step {
	next := *s
	next.Live = now
	return next
}

// Making returns the step with an object that only the run reads.
func (s *Step) Making(o *Object) Step {
	next := *s
	next.Object = o
	return next
}

// Wrote is the result of a write.
type Wrote struct {
	// Live is the object after the write.
	Live *tracking.Live
	// Unchanged is set if no request was necessary, or the server changed nothing.
	Unchanged bool
	At        time.Time
	// Managed returns the hashes to record for the fields that lynq manages now.
	Managed func() (own, defaults string)
}

// Confirms returns the entry of the object after a write.
func (s *Step) Confirms(w *Wrote) inventory.Entry {
	o, l, r := s.Object, w.Live, s.NextEntry()
	if o.Policy.ReapplyInterval > 0 {
		r.Written = w.At.UTC().Truncate(time.Second)
	}
	if w.Unchanged && r.UID == string(l.UID) && r.Digest == o.Digest && r.ResourceVersion == l.ResourceVersion {
		return r // the entry is already up to date
	}
	r.UID, r.Digest, r.Template = string(l.UID), o.Digest, o.Template
	if s.Action == ActionTrack && !o.Policy.Creation.Once() {
		r.Digest, r.Template = "", "" // the content may differ from the form
	}
	if s.Applies() && s.Action != ActionTrack && !o.Policy.Creation.Once() && len(o.Policy.IgnoreFields) == 0 {
		r.Sensitive = o.Sensitive // the write removed all other values of the form
	}
	r.ResourceVersion = l.ResourceVersion
	r.Fields, r.Defaults = w.Managed()
	r.Ready, r.Ended = w.stillReady(&r) || o.readyOnceThere(), w.Unchanged && r.Ended
	if !r.Ready || o.readyOnceThere() {
		r.Generation = l.Generation
	}
	return r
}

// stillReady reports whether an object remains recorded as ready. An object doesn't if an
// earlier run changed it and ended before it recorded that. If another client changed the
// object, such as an autoscaler, the entry keeps the generation that a run saw ready.
func (w *Wrote) stillReady(r *inventory.Entry) bool {
	return w.Unchanged && r.Ready && (r.Generation == w.Live.Generation || !w.Live.LastButStatus)
}

// Keeps returns the entry of the object at the end of a run that didn't write it. If the
// form now retains the object, the entry says so, even without a write. So lynqctl keeps
// the object when the row is deleted.
func (s *Step) Keeps(r inventory.Entry) inventory.Entry {
	if s.Object != nil {
		r.Deletion = r.Deletion.Or(s.Object.Policy.Deletion)
	}
	if s.Reason != ReasonLeftOut {
		r.Excluded = s.Reason == ReasonExcluded
	}
	return r
}

// Begun returns the entry of an object after a failed write, which may have taken effect.
func (s *Step) Begun() inventory.Entry {
	r := NewEntry(s.Object)
	r.Adopted, r.Sensitive = s.Adopted, r.Sensitive || s.Entry != nil && s.Entry.Sensitive
	return r
}

// Purged returns the entry of an object that did its work and was deleted.
func Purged(r inventory.Entry) inventory.Entry {
	r.UID, r.Generation, r.ResourceVersion, r.Fields = "", 0, "", ""
	return r
}

// UpToDate reports whether a desired object and its entry need no change. If the server was
// asked, the answer must be recorded, so that the next plan needn't ask.
func (s *Step) UpToDate() bool {
	asked := s.Live != nil && s.Live.Intact
	return s.Action == ActionKeep && s.Entry != nil && !asked && s.NextEntry() == *s.Entry
}
