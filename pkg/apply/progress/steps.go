package progress

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/container"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// Steps has the steps of a node, and how far they are. Those of wanted objects come in the
// order of their waves, so that it is enough to know up to which of them all are done.
type Steps struct {
	Of      []Step
	index   map[string]int // of the desired objects, by id
	purging bool           // the run deletes objects when their work is done
	done    int            // all steps before this one have come as far as others wait for
	failed  []int          // those of them that failed
	leaving []int          // those that go when their work is done
}

// New has the steps of a plan, none of which had its turn. Purging: the run deletes objects
// when their work is done.
func New(p *plan.NodePlan, purging bool) Steps {
	all := Steps{Of: make([]Step, len(p.Steps)), index: map[string]int{}, purging: purging}
	for i := range p.Steps {
		s := &p.Steps[i]
		all.Of[i] = Step{Step: s, Record: s.Entry, IsReady: report.KeptReady(s)}
		if s.Object != nil {
			all.index[s.Object.ID] = i
			if s.Object.Policy.PurgeOrder != nil {
				all.leaving = append(all.leaving, i)
			}
		} else if all.HookOf(&all.Of[i]) != nil {
			all.Of[i].Record = nil // that of its hook counts, until it has completed
		}
	}
	return all
}

// dependency is how far something is that a step needs.
type dependency uint8

const (
	dependencyMet dependency = iota
	dependencyWaiting
	dependencyFailed
)

// Worst gives the outcome of the node so far.
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

// Awaited tells whether a step has to wait for others of its node, those of earlier
// waves and those it depends on, and what became of those that failed.
func (all *Steps) Awaited(s *Step) (waiting bool, failures []string) {
	waiting, failed := all.before(s)
	if failed != nil {
		_, why := all.dependency(failed)
		failures = append(failures, fmt.Sprintf("%s, of an earlier wave, %s", failed.Ref(), why))
	}
	for _, id := range s.Object.DependIDs {
		i, known := all.index[id]
		if !known || &all.Of[i] == failed {
			continue // a selector left it out, or it is told of
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

// dependency tells how far an object of the node is, for those that depend on
// it, and what became of one that failed.
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

// before tells whether a step has to wait for objects of earlier waves, and gives the
// first of those that failed, nil for none.
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

// Purges tells whether the run deletes an object when its work is done: not one that it
// leaves alone, or was deleted so before.
func (all *Steps) Purges(s *Step) bool {
	return s.Purges() && all.purging
}

// dependable tells whether an object is as those want it that depend on it.
func (all *Steps) dependable(s *Step) bool {
	state, _ := all.dependency(s)
	return state == dependencyMet && s.Record != nil
}

// ToPurge gives the steps of objects whose work is done: those that are ready, as all
// objects of the waves are up to that at whose end they go.
func (all *Steps) ToPurge() []*Step {
	var due []*Step
	for _, i := range all.leaving {
		if s := &all.Of[i]; s.State == Done && all.Purges(s) && all.dependable(s) && all.waveEnded(*s.Object.Policy.PurgeOrder) {
			due = append(due, s)
		}
	}
	return due
}

// waveEnded tells whether all objects up to a wave are as those of later ones want them,
// and those are gone whose work was done before its end.
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

// unpurged tells whether objects are yet to be deleted at the end of a wave before this
// one, and gives one whose deletion failed, nil for none.
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

// NextDeadline tells when the first of the objects that are waited for is late, zero
// where none is waited for.
func (all *Steps) NextDeadline() (first time.Time) {
	for i := range all.Of {
		if s := &all.Of[i]; s.State == Waiting && (first.IsZero() || s.Deadline.Before(first)) {
			first = s.Deadline
		}
	}
	return first
}

// HookOf gives the hook whose object a step takes away when it has completed, nil for none.
func (all *Steps) HookOf(s *Step) *Step {
	if s.Object != nil || !s.Entry.Hook() {
		return nil
	}
	if i, runs := all.index[s.Entry.ID]; runs && all.Of[i].Hook() {
		return &all.Of[i]
	}
	return nil
}

// Left gives the entries of objects that the node still has, except those that were left to
// the garbage collector.
func (all *Steps) Left() []inventory.Entry {
	var left []inventory.Entry
	for i := range all.Of {
		if s := &all.Of[i]; s.Record != nil && !s.Collected {
			left = append(left, *s.Record)
		}
	}
	return left
}

// Changed tells whether the run wrote an object, or tried to. A conflict changes nothing,
// nor does a step that others kept from beginning.
func (all *Steps) Changed() bool {
	return slices.ContainsFunc(all.Of, func(s Step) bool {
		conflict := s.Outcome == report.OutcomeConflicted
		skipped := s.Outcome == report.OutcomeSkipped && !s.Interrupted
		left := (conflict || skipped) && !s.Touched
		return s.Outcome != report.OutcomeUnchanged && s.Action != plan.ActionSkip && !left
	})
}

// Confirmed gives the records of all that the node still has, or may have.
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

// ConfirmHooks sets the hooks as they are recorded from now on: those that the form
// says of a node that is wanted, or else those that are left.
func (all *Steps) ConfirmHooks(next *inventory.Inventory, wanted bool) {
	for i := range all.Of {
		s := &all.Of[i]
		if s.Entry == nil || !s.Entry.Hook() || s.Hook() && s.Record == nil || all.HookOf(s) != nil && s.Record == nil && all.HookOf(s).Record != nil {
			continue // the other step of the hook tells
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
		case at < 0 && s.Record != nil: // the form has it no more, and it is not gone yet
			left := *s.Record
			left.RunOn, left.Phase, left.Digest = "", "", ""
			next.Entries = append(next.Entries, left)
		}
	}
}

// SkipAll has all steps end as skipped.
func (all *Steps) SkipAll() {
	for i := range all.Of {
		all.Of[i].State, all.Of[i].Outcome = Done, report.OutcomeSkipped
	}
}

// Rendered tells whether all that is recorded as written is what was rendered now.
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

// MayLeave tells whether an object that the node wants no more may go now: when all of
// earlier waves and all that depended on it are gone, and a container of others last. What such a
// dependent left of itself may still need it, so that it stays where one of them
// did not go.
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

// goesBefore tells whether an object has to be gone before another goes. What a hook made
// goes when all else of the node is gone but what contains it.
func goesBefore(other, s *Step) bool {
	switch {
	case other.Object != nil || other.Action == plan.ActionCollect:
		return false
	case s.Entry.Hook():
		return !other.Entry.Hook() && !container.Is(other.Ref())
	case other.Entry.Hook() && !container.Is(s.Ref()) && s.Action != plan.ActionCollect: // it goes after this
		return false
	}
	return plan.GoesBefore(other.Entry, s.Entry) || s.Action == plan.ActionCollect
}

// Uncollect has what was left to the garbage collector deleted after all, where
// the inventory stays though all else is done with: it would never be collected.
func (all *Steps) Uncollect() {
	for i := range all.Of {
		if s := &all.Of[i]; s.Collected {
			s.Becomes(s.As(plan.ActionDelete, s.Reason))
			s.State, s.Collected = Pending, false
		}
	}
}
