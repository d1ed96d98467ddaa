package apply

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Account describes the state of a node for its inventory.
type Account struct {
	Steps  *Steps
	Before *inventory.Inventory // the inventory when the plan was made
	Began  time.Time
	Now    time.Time
}

// Status returns the recorded status of a node that ends like this.
func (a *Account) Status(outcome report.Outcome, problems []string) inventory.Status {
	st := inventory.Status{Objects: a.objects()}
	allReady := true
	for i := range a.Steps.Of {
		s := &a.Steps.Of[i]
		switch {
		case s.Object == nil:
			continue
		case s.Object.Exclusion != nil:
			st.Excluded++
			continue
		}
		ready := s.Record != nil && s.Record.Ready && report.Severity(s.Outcome) <= report.Severity(report.OutcomeSkipped)
		if !s.Hook() {
			st.Desired++
			if ready {
				st.Ready++
			}
			allReady = allReady && (ready || s.Object.Policy.Unwaited)
		}
		switch {
		case s.Interrupted:
		case s.Outcome == report.OutcomeFailed, s.Outcome == report.OutcomeNotReady:
			st.Failed++
		case s.Outcome == report.OutcomeSkipped:
			st.Skipped++
		case s.Outcome == report.OutcomeConflicted:
			st.Conflicted++
		}
	}
	st.Conditions = report.Conditions(outcome, problems, allReady)
	report.Uncount(&st)
	return st
}

// objects returns the objects that aren't in their desired state, and why.
func (a *Account) objects() []inventory.ObjectStatus {
	var objects []inventory.ObjectStatus
	for i := range a.Steps.Of {
		s := &a.Steps.Of[i]
		if s.Reason == plan.ReasonLeftOut { // the run learned nothing about it
			if told := a.told(s.Ref()); told != nil {
				objects = append(objects, *told)
			}
			continue
		}
		if why := s.complaint(); why != "" {
			ref := s.Ref()
			objects = append(objects, inventory.ObjectStatus{
				ID: s.ID(), Group: ref.Group, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name,
				Reason: why, Message: s.Says, Since: a.WaitedSince(s), Dropped: s.Object == nil,
			})
		}
	}
	return objects
}

// told returns the last run's record of an object, or nil.
func (a *Account) told(ref lynq.Ref) *inventory.ObjectStatus {
	if a.Before == nil {
		return nil
	}
	return a.Before.Status.Object(ref)
}

// WaitedSince returns since when lynqctl waits for an object that isn't ready. That is
// since this run wrote it, or since the recorded time. So the wait for an unchanged object
// doesn't start again in each run. It returns zero if nobody waits for the object.
func (a *Account) WaitedSince(s *Step) time.Time {
	if !s.Unready() {
		return time.Time{}
	}
	if s.Action == plan.ActionKeep && !s.Hook() { // each run waits for a hook for its full timeout
		if told := a.told(s.Ref()); told != nil && !told.Since.IsZero() && told.Since.Before(a.Now) {
			return told.Since
		}
	}
	if s.Since.IsZero() {
		return a.Began
	}
	return s.Since
}
