package apply

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// Steps has the steps of a node and their progress. Steps of desired objects are in the
// order of their waves. So it is enough to know up to which step all are done.
type Steps struct {
	Of      []Step
	index   map[string]int // the index of desired objects, by id
	purging bool           // the run deletes objects after their work is done
	done    int            // all steps before this one have ended for those that wait
	failed  []int          // the failed steps before done
	leaving []int          // the steps with objects to delete after their work is done
}

// Set makes all the steps of a plan before their turn. purging says whether the run deletes
// objects after their work is done. Set overwrites earlier steps.
func (all *Steps) Set(p *plan.NodePlan, purging bool) {
	if all.index == nil {
		all.index = map[string]int{}
	}
	clear(all.index)
	*all = Steps{Of: slices.Grow(all.Of[:0], len(p.Steps))[:len(p.Steps)], index: all.index, purging: purging}
	for i := range p.Steps {
		s := &p.Steps[i]
		all.Of[i] = Step{StepResult: report.StepResult{Step: s, Ready: report.KeptReady(s)}, Record: s.Entry}
		if s.Object != nil {
			all.index[s.Object.ID] = i
			if s.Object.Policy.PurgeOrder != nil {
				all.leaving = append(all.leaving, i)
			}
		} else if all.HookOf(&all.Of[i]) != nil {
			all.Of[i].Record = nil // the entry of its hook counts until the hook has completed
		}
	}
}

// Absent returns the entries of the recorded objects that the run didn't find, without those
// that a user gave up. Hooks are not among them: the run creates and deletes their objects
// itself.
func (all *Steps) Absent() []*inventory.Entry {
	var absent []*inventory.Entry
	for i := range all.Of {
		s := &all.Of[i]
		if s.Live == nil && s.Reason != plan.ReasonGivenUp && s.Entry != nil && !s.Entry.Purged() && !s.Entry.Hook() {
			absent = append(absent, s.Entry)
		}
	}
	return absent
}

// dependency is the state of an object that a step needs.
type dependency uint8

const (
	dependencyMet dependency = iota
	dependencyWaiting
	dependencyFailed
)

// Worst returns the outcome of the node so far.
func (all *Steps) Worst() report.Outcome {
	worst := report.OutcomeUnchanged
	for i := range all.Of {
		if all.Of[i].Action == plan.ActionSkip {
			continue // left alone on purpose
		}
		o := all.Of[i].Outcome
		if all.Of[i].Interrupted {
			o = report.OutcomeInterrupted
		}
		if report.Severity(o) > report.Severity(worst) {
			worst = o
		}
	}
	return worst
}

// Awaited reports whether a step must wait for earlier waves or dependencies of its node.
// failures describes those that failed.
func (all *Steps) Awaited(s *Step) (waiting bool, failures []string) {
	waiting, failed := all.before(s)
	if failed != nil {
		_, why := all.dependency(failed)
		failures = append(failures, fmt.Sprintf("%s, of an earlier wave, %s", failed.Ref(), why))
	}
	for _, id := range s.Object.DependIDs {
		i, known := all.index[id]
		if !known || &all.Of[i] == failed {
			continue // a selector left it out, or failures names it already
		}
		switch state, why := all.dependency(&all.Of[i]); state {
		case dependencyWaiting:
			waiting = true
		case dependencyFailed:
			failures = append(failures, fmt.Sprintf("%s, which it depends on, %s", all.Of[i].Ref(), why))
		}
	}
	return waiting, failures
}

// dependency returns the state of an object for its dependents, and the reason if it
// failed.
func (all *Steps) dependency(s *Step) (dependency, string) {
	switch s.State {
	case Pending, Waiting:
		return dependencyWaiting, ""
	}
	switch s.Outcome {
	case report.OutcomeFailed:
		return dependencyFailed, "failed"
	case report.OutcomeConflicted:
		return dependencyFailed, "has a conflict"
	case report.OutcomeNotReady:
		return dependencyFailed, "is not ready: " + s.Says
	case report.OutcomeSkipped:
		if s.Action != plan.ActionSkip {
			return dependencyFailed, "was skipped"
		}
	}
	return dependencyMet, ""
}

// before reports whether a step must wait for objects of earlier waves. failed is the first
// of those that failed, or nil.
func (all *Steps) before(s *Step) (waiting bool, failed *Step) {
	for ; all.done < len(all.Of) && all.Of[all.done].Object != nil; all.done++ {
		state, _ := all.dependency(&all.Of[all.done])
		if state == dependencyWaiting {
			break
		}
		if state == dependencyFailed {
			all.failed = append(all.failed, all.done)
		}
	}
	earlier := func(i int) bool {
		return i < len(all.Of) && all.Of[i].Object != nil && all.Of[i].Object.Policy.ApplyOrder < s.Object.Policy.ApplyOrder
	}
	if len(all.failed) > 0 && earlier(all.failed[0]) {
		return earlier(all.done), &all.Of[all.failed[0]]
	}
	unpurged, failed := all.unpurged(s.Object.Policy.ApplyOrder)
	return unpurged || earlier(all.done), failed
}

// Purges reports whether the run deletes an object after its work is done. It doesn't if it
// leaves the object alone, or if an earlier run deleted it.
func (all *Steps) Purges(s *Step) bool {
	return s.Purges() && all.purging
}

// dependable reports whether an object is in the state that its dependents need.
func (all *Steps) dependable(s *Step) bool {
	state, _ := all.dependency(s)
	return state == dependencyMet && s.Record != nil
}

// ToPurge returns the steps of objects to delete because their work is done. They are
// ready, and so are all objects up to the wave of their purgeOrder.
func (all *Steps) ToPurge() []*Step {
	var due []*Step
	for _, i := range all.leaving {
		if s := &all.Of[i]; s.State == Done && all.Purges(s) && all.dependable(s) && all.waveEnded(*s.Object.Policy.PurgeOrder) {
			due = append(due, s)
		}
	}
	return due
}

// waveEnded reports whether later waves may begin. All objects up to the wave must be
// ready, and objects with an earlier purgeOrder must be deleted.
func (all *Steps) waveEnded(wave int) bool {
	for i := range all.Of {
		s := &all.Of[i]
		if s.Object == nil || s.Object.Policy.ApplyOrder > wave {
			continue
		}
		if state, _ := all.dependency(s); state != dependencyMet || all.Purges(s) && *s.Object.Policy.PurgeOrder < wave {
			return false
		}
	}
	return true
}

// unpurged reports whether objects must still be deleted at the end of an earlier wave.
// failed is one that lynqctl couldn't delete, or nil.
func (all *Steps) unpurged(wave int) (waiting bool, failed *Step) {
	for _, i := range all.leaving {
		s := &all.Of[i]
		if *s.Object.Policy.PurgeOrder >= wave {
			continue
		}
		switch state, _ := all.dependency(s); {
		case state == dependencyFailed:
			return false, s
		case state == dependencyWaiting, all.Purges(s):
			waiting = true
		}
	}
	return waiting, nil
}

// NextDeadline returns when the first of the awaited objects needs a look, or zero.
func (all *Steps) NextDeadline() (first time.Time) {
	for i := range all.Of {
		s := &all.Of[i]
		if s.State != Waiting {
			continue
		}
		next := s.Deadline
		if !s.Check.IsZero() && s.Check.Before(next) {
			next = s.Check
		}
		if first.IsZero() || next.Before(first) {
			first = next
		}
	}
	return first
}

// HookOf returns the hook if a step deletes the object of a completed hook, or nil.
func (all *Steps) HookOf(s *Step) *Step {
	if s.Object != nil || !s.Entry.Hook() {
		return nil
	}
	if i, runs := all.index[s.Entry.ID]; runs && all.Of[i].Hook() {
		return &all.Of[i]
	}
	return nil
}

// Left returns the entries of objects that the node still has, except those left to the
// garbage collector.
func (all *Steps) Left() []inventory.Entry {
	var left []inventory.Entry
	for i := range all.Of {
		if s := &all.Of[i]; s.Record != nil && !s.Collected {
			left = append(left, *s.Record)
		}
	}
	return left
}

// Changed reports whether the run wrote an object or tried to. A conflict changes nothing,
// and neither does a step that others prevented.
func (all *Steps) Changed() bool {
	return slices.ContainsFunc(all.Of, func(s Step) bool {
		conflict := s.Outcome == report.OutcomeConflicted
		skipped := s.Outcome == report.OutcomeSkipped && !s.Interrupted
		left := (conflict || skipped) && !s.Touched
		return s.Outcome != report.OutcomeUnchanged && s.Action != plan.ActionSkip && !left
	})
}

// Confirmed returns the entries of all objects that the node has or may have.
func (all *Steps) Confirmed() []inventory.Entry {
	var entries []inventory.Entry
	for i := range all.Of {
		s := &all.Of[i]
		if s.Record == nil || s.Record.Hook() {
			continue
		}
		entries = append(entries, s.Keeps(*s.Record))
	}
	slices.SortFunc(entries, func(a, b inventory.Entry) int { return cmp.Compare(a.Key(), b.Key()) })
	return entries
}

// ConfirmHooks sets the hooks of the next inventory. For a desired node these are the
// form's hooks, and otherwise those that are left.
func (all *Steps) ConfirmHooks(next *inventory.Inventory, wanted bool) {
	for i := range all.Of {
		s := &all.Of[i]
		if s.Entry == nil || !s.Entry.Hook() || s.Hook() && s.Record == nil || all.HookOf(s) != nil && s.Record == nil && all.HookOf(s).Record != nil {
			continue // the other step of the hook decides
		}
		at := slices.IndexFunc(next.Hooks, func(r inventory.Entry) bool { return r.Ref == s.Ref() })
		switch {
		case at >= 0 && wanted && s.Record == nil:
			next.Hooks[at].UID, next.Hooks[at].Phase = "", ""
		case at >= 0 && s.Record == nil:
			next.Hooks = slices.Delete(next.Hooks, at, at+1)
		case at >= 0 && !wanted:
			next.Hooks[at] = *s.Record
			next.Hooks[at].Ready = false
		case at < 0 && s.Record != nil: // the form no longer has it, and it still exists
			left := *s.Record
			left.RunOn, left.Phase, left.Digest = "", "", ""
			next.Entries = append(next.Entries, left)
		}
	}
}

// SkipAll ends all steps as skipped.
func (all *Steps) SkipAll() {
	for i := range all.Of {
		all.Of[i].State, all.Of[i].Outcome = Done, report.OutcomeSkipped
	}
}

// Rendered reports whether all recorded writes match the objects that this run rendered.
func (all *Steps) Rendered() bool {
	for i := range all.Of {
		r := all.Of[i].Record
		if r == nil || r.Digest == "" || r.Creation.Once() {
			continue
		}
		if o := all.Of[i].Object; o == nil || o.Digest != r.Digest {
			return false
		}
	}
	return true
}

// MayLeave reports whether lynqctl may now delete an object that isn't desired. Objects
// with an earlier deleteOrder, its dependents, and the contents of a container must be
// deleted first. If one of them remains, stays says so, because it may still need the
// object.
func (all *Steps) MayLeave(s *Step) (may bool, stays string) {
	for i := range all.Of {
		other := &all.Of[i]
		if other == s || !goesBefore(other, s) {
			continue
		}
		switch {
		case other.State != Done:
			return false, ""
		case !other.Outcome.Well() && other.Action != plan.ActionSkip:
			return false, "it stays until " + other.Ref().String() + " is gone"
		}
	}
	return true, ""
}

// goesBefore reports whether an object must be deleted before another. A hook's object is
// deleted after all other objects of the node, except its containers.
func goesBefore(other, s *Step) bool {
	switch {
	case other.Object != nil || other.Action == plan.ActionCollect:
		return false
	case s.Entry.Hook():
		return !other.Entry.Hook() && !tracking.IsContainer(other.Ref())
	case other.Entry.Hook() && !tracking.IsContainer(s.Ref()) && s.Action != plan.ActionCollect: // the hook's object comes after this one
		return false
	}
	return plan.GoesBefore(other.Entry, s.Entry) || s.Action == plan.ActionCollect
}

// Uncollect makes lynqctl delete the objects that it left to the garbage collector. It is
// for an inventory that remains although all other steps are done, because then nothing
// collects them.
func (all *Steps) Uncollect() {
	for i := range all.Of {
		if s := &all.Of[i]; s.Collected {
			s.Becomes(s.As(plan.ActionDelete, s.Reason))
			s.State, s.Collected = Pending, false
		}
	}
}
