package apply

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

// steps are those of a node, and how far they are. Those of wanted objects come in the
// order of their waves, so that it is enough to know up to which of them all are done.
type steps struct {
	of      []stepRun
	index   map[string]int // of the desired objects, by id
	purging bool           // the run deletes objects when their work is done
	done    int            // all steps before this one have come as far as others wait for
	failed  []int          // those of them that failed
	leaving []int          // those that go when their work is done
}

func newSteps(p *plan.NodePlan, purging bool) steps {
	all := steps{of: make([]stepRun, len(p.Steps)), index: map[string]int{}, purging: purging}
	for i := range p.Steps {
		s := &p.Steps[i]
		all.of[i] = stepRun{Step: s, entry: s.Entry, isReady: report.KeptReady(s)}
		if s.Object != nil {
			all.index[s.Object.ID] = i
			if s.Object.Policy.PurgeOrder != nil {
				all.leaving = append(all.leaving, i)
			}
		} else if all.hookOf(&all.of[i]) != nil {
			all.of[i].entry = nil // that of its hook counts, until it has completed
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

// worst is the outcome of the node so far.
func (all *steps) worst() report.Outcome {
	worst := report.OutcomeUnchanged
	for i := range all.of {
		if all.of[i].Action == plan.ActionSkip {
			continue // left alone on purpose
		}
		o := all.of[i].outcome
		if all.of[i].interrupted {
			o = report.OutcomeInterrupted
		}
		if report.Severity(o) > report.Severity(worst) {
			worst = o
		}
	}
	return worst
}

// awaited tells whether a step has to wait for others of its node, those of earlier
// waves and those it depends on, and what became of those that failed.
func (all *steps) awaited(s *stepRun) (waiting bool, failures []string) {
	waiting, failed := all.before(s)
	if failed != nil {
		_, why := all.dependency(failed)
		failures = append(failures, fmt.Sprintf("%s, of an earlier wave, %s", failed.Ref(), why))
	}
	for _, id := range s.Object.DependIDs {
		i, known := all.index[id]
		if !known || &all.of[i] == failed {
			continue // a selector left it out, or it is told of
		}
		switch state, why := all.dependency(&all.of[i]); state {
		case dependencyWaiting:
			waiting = true
		case dependencyFailed:
			failures = append(failures, fmt.Sprintf("%s, which it depends on, %s", all.of[i].Ref(), why))
		}
	}
	return waiting, failures
}

// dependency tells how far an object of the node is, for those that depend on
// it, and what became of one that failed.
func (all *steps) dependency(s *stepRun) (dependency, string) {
	switch s.state {
	case stepPending, stepWaiting:
		return dependencyWaiting, ""
	}
	switch s.outcome {
	case report.OutcomeFailed:
		return dependencyFailed, "failed"
	case report.OutcomeConflicted:
		return dependencyFailed, "belongs to another owner"
	case report.OutcomeNotReady:
		return dependencyFailed, "is not ready: " + s.message
	case report.OutcomeSkipped:
		if s.Action != plan.ActionSkip {
			return dependencyFailed, "was skipped"
		}
	}
	return dependencyMet, ""
}

// before tells whether a step has to wait for objects of earlier waves, and gives the
// first of those that failed, nil for none.
func (all *steps) before(s *stepRun) (waiting bool, failed *stepRun) {
	for ; all.done < len(all.of) && all.of[all.done].Object != nil; all.done++ {
		state, _ := all.dependency(&all.of[all.done])
		if state == dependencyWaiting {
			break
		}
		if state == dependencyFailed {
			all.failed = append(all.failed, all.done)
		}
	}
	earlier := func(i int) bool {
		return i < len(all.of) && all.of[i].Object != nil && all.of[i].Object.Policy.ApplyOrder < s.Object.Policy.ApplyOrder
	}
	if len(all.failed) > 0 && earlier(all.failed[0]) {
		return earlier(all.done), &all.of[all.failed[0]]
	}
	unpurged, failed := all.unpurged(s.Object.Policy.ApplyOrder)
	return unpurged || earlier(all.done), failed
}

// purges tells whether the run deletes an object when its work is done: not one that it
// leaves alone, or was deleted so before.
func (all *steps) purges(s *stepRun) bool {
	return s.Purges() && all.purging
}

// dependable tells whether an object is as those want it that depend on it.
func (all *steps) dependable(s *stepRun) bool {
	state, _ := all.dependency(s)
	return state == dependencyMet && s.entry != nil
}

// waveEnded tells whether all objects up to a wave are as those of later ones want them,
// and those are gone whose work was done before its end.
func (all *steps) waveEnded(wave int) bool {
	for i := range all.of {
		s := &all.of[i]
		if s.Object == nil || s.Object.Policy.ApplyOrder > wave {
			continue
		}
		if state, _ := all.dependency(s); state != dependencyMet || all.purges(s) && *s.Object.Policy.PurgeOrder < wave {
			return false
		}
	}
	return true
}

// unpurged tells whether objects are yet to be deleted at the end of a wave before this
// one, and gives one whose deletion failed, nil for none.
func (all *steps) unpurged(wave int) (waiting bool, failed *stepRun) {
	for _, i := range all.leaving {
		s := &all.of[i]
		if *s.Object.Policy.PurgeOrder >= wave {
			continue
		}
		switch state, _ := all.dependency(s); {
		case state == dependencyFailed:
			return false, s
		case state == dependencyWaiting, all.purges(s):
			waiting = true
		}
	}
	return waiting, nil
}

// nextDeadline is when the first of the objects that are waited for is late, zero
// where none is waited for.
func (all *steps) nextDeadline() (first time.Time) {
	for i := range all.of {
		if s := &all.of[i]; s.state == stepWaiting && (first.IsZero() || s.deadline.Before(first)) {
			first = s.deadline
		}
	}
	return first
}

// hookOf is the hook whose object a step takes away when it has completed, nil for none.
func (all *steps) hookOf(s *stepRun) *stepRun {
	if s.Object != nil || !s.Entry.Hook() {
		return nil
	}
	if i, runs := all.index[s.Entry.ID]; runs && all.of[i].hook() {
		return &all.of[i]
	}
	return nil
}

// left are the entries of objects that the node still has, except those that were left to
// the garbage collector.
func (all *steps) left() []inventory.Entry {
	var left []inventory.Entry
	for i := range all.of {
		if s := &all.of[i]; s.entry != nil && !s.collected {
			left = append(left, *s.entry)
		}
	}
	return left
}

// changed tells whether the run wrote an object, or tried to. A conflict changes nothing,
// nor does a step that others kept from beginning.
func (all *steps) changed() bool {
	return slices.ContainsFunc(all.of, func(s stepRun) bool {
		conflict := s.outcome == report.OutcomeConflicted
		skipped := s.outcome == report.OutcomeSkipped && !s.interrupted
		left := (conflict || skipped) && !s.touched
		return s.outcome != report.OutcomeUnchanged && s.Action != plan.ActionSkip && !left
	})
}

// confirmed are the records of all that the node still has, or may have.
func (all *steps) confirmed() []inventory.Entry {
	var entries []inventory.Entry
	for i := range all.of {
		s := &all.of[i]
		if s.entry == nil || s.entry.Hook() {
			continue
		}
		entries = append(entries, s.Keeps(*s.entry))
	}
	slices.SortFunc(entries, func(a, b inventory.Entry) int { return cmp.Compare(a.Key(), b.Key()) })
	return entries
}

// confirmHooks are the hooks as they are recorded from now on: those that the form
// says of a node that is wanted, or else those that are left.
func (all *steps) confirmHooks(next *inventory.Inventory, wanted bool) {
	for i := range all.of {
		s := &all.of[i]
		if s.Entry == nil || !s.Entry.Hook() || s.hook() && s.entry == nil || all.hookOf(s) != nil && s.entry == nil && all.hookOf(s).entry != nil {
			continue // the other step of the hook tells
		}
		at := slices.IndexFunc(next.Hooks, func(r inventory.Entry) bool { return r.Ref == s.Ref() })
		switch {
		case at >= 0 && wanted && s.entry == nil:
			next.Hooks[at].UID, next.Hooks[at].Phase = "", ""
		case at >= 0 && s.entry == nil:
			next.Hooks = slices.Delete(next.Hooks, at, at+1)
		case at >= 0 && !wanted:
			next.Hooks[at] = *s.entry
			next.Hooks[at].Ready = false
		case at < 0 && s.entry != nil: // the form has it no more, and it is not gone yet
			left := *s.entry
			left.RunOn, left.Phase, left.Digest = "", "", ""
			next.Entries = append(next.Entries, left)
		}
	}
}

func (all *steps) skipAll() {
	for i := range all.of {
		all.of[i].state, all.of[i].outcome = stepDone, report.OutcomeSkipped
	}
}

// rendered tells whether all that is recorded as written is what was rendered now.
func (all *steps) rendered() bool {
	for i := range all.of {
		r := all.of[i].entry
		if r == nil || r.Digest == "" || r.Creation.Once() {
			continue
		}
		if o := all.of[i].Object; o == nil || o.Digest != r.Digest {
			return false
		}
	}
	return true
}

// mayLeave tells whether an object that the node wants no more may go now: when all of
// earlier waves and all that depended on it are gone, and a container of others last. What such a
// dependent left of itself may still need it, so that it stays where one of them
// did not go.
func (all *steps) mayLeave(s *stepRun) (may bool, stays string) {
	for i := range all.of {
		other := &all.of[i]
		if other == s || !goesBefore(other, s) {
			continue
		}
		switch {
		case other.state != stepDone:
			return false, ""
		case !other.outcome.Well() && other.Action != plan.ActionSkip:
			return false, "it stays until " + other.Ref().String() + " is gone"
		}
	}
	return true, ""
}

// goesBefore tells whether an object has to be gone before another goes. What a hook made
// goes when all else of the node is gone but what contains it.
func goesBefore(other, s *stepRun) bool {
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

// uncollect has what was left to the garbage collector deleted after all, where
// the inventory stays though all else is done with: it would never be collected.
func (all *steps) uncollect() {
	for i := range all.of {
		if s := &all.of[i]; s.collected {
			s.becomes(s.As(plan.ActionDelete, s.Reason))
			s.state, s.collected = stepPending, false
		}
	}
}
