package apply

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// account is what a node's inventory is told of how the node is.
type account struct {
	steps  *steps
	before *inventory.Inventory // as it was when the plan was made
	began  time.Time
	now    time.Time
}

func (n *nodeRun) account() *account {
	return &account{steps: &n.steps, before: n.plan.Inventory, began: n.began, now: n.run.Now()}
}

// status tells how the node is.
func (a *account) status(e *ending) inventory.Status {
	st := inventory.Status{Objects: a.objects()}
	allReady := true
	for i := range a.steps.of {
		s := &a.steps.of[i]
		switch {
		case s.Object == nil:
			continue
		case s.Object.Exclusion != nil:
			st.Excluded++
			continue
		}
		ready := s.entry != nil && s.entry.Ready && report.Severity(s.outcome) <= report.Severity(report.OutcomeSkipped)
		if !s.hook() {
			st.Desired++
			if ready {
				st.Ready++
			}
			allReady = allReady && (ready || s.Object.Policy.Unwaited)
		}
		switch {
		case s.interrupted:
		case s.outcome == report.OutcomeFailed, s.outcome == report.OutcomeNotReady:
			st.Failed++
		case s.outcome == report.OutcomeSkipped:
			st.Skipped++
		case s.outcome == report.OutcomeConflicted:
			st.Conflicted++
		}
	}
	st.Conditions = report.Conditions(e.outcome, e.problems, allReady)
	report.Uncount(&st)
	return st
}

// objects are those that are not as the node wants them, and why.
func (a *account) objects() []inventory.ObjectStatus {
	var objects []inventory.ObjectStatus
	for i := range a.steps.of {
		s := &a.steps.of[i]
		if s.Reason == reason.LeftOut { // nothing was learned of it
			if told := a.told(s.Ref()); told != nil {
				objects = append(objects, *told)
			}
			continue
		}
		if why := s.reason(); why != "" {
			ref := s.Ref()
			objects = append(objects, inventory.ObjectStatus{
				ID: s.ID(), Group: ref.Group, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name,
				Reason: why, Message: s.message, Since: a.waitedSince(s),
			})
		}
	}
	return objects
}

// reason is a word for why an object is not as the node wants it, "" where it is.
func (s *stepRun) reason() string {
	switch {
	case s.interrupted:
		return inventory.ObjectInterrupted
	case s.why != "":
		return s.why
	case s.outcome == report.OutcomeFailed:
		return inventory.ObjectFailed
	case s.outcome == report.OutcomeConflicted:
		return inventory.ObjectConflict
	case s.outcome == report.OutcomeNotReady:
		return inventory.ObjectNotReady
	case s.outcome == report.OutcomeSkipped && s.Action == plan.ActionSkip:
		return string(s.Reason)
	case s.outcome == report.OutcomeSkipped:
		return inventory.ObjectSkipped
	case s.unready():
		return inventory.ObjectNotWaitedFor
	}
	return ""
}

// unready tells whether an object that the node has is to become ready, and was not
// seen so.
func (s *stepRun) unready() bool {
	o := s.Object
	return o != nil && s.entry != nil && !s.entry.Ready && o.Awaited()
}

// told is what the last run recorded of an object, nil for nothing.
func (a *account) told(ref lynq.Ref) *inventory.ObjectStatus {
	if a.before == nil {
		return nil
	}
	return a.before.Status.Object(ref)
}

// waitedSince is from when on an object is waited for that is not ready: since this
// run wrote it, or since it is recorded, for what is not written is not waited for
// from the beginning in each run. Zero where it is not waited for.
func (a *account) waitedSince(s *stepRun) time.Time {
	if !s.unready() {
		return time.Time{}
	}
	if s.Action == plan.ActionKeep && !s.hook() { // each run waits for a hook as long as it may take
		if told := a.told(s.Ref()); told != nil && !told.Since.IsZero() && told.Since.Before(a.now) {
			return told.Since
		}
	}
	if s.since.IsZero() {
		return a.began
	}
	return s.since
}
