package progress

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Account has what a node's inventory is told of how the node is.
type Account struct {
	Steps  *Steps
	Before *inventory.Inventory // as it was when the plan was made
	Began  time.Time
	Now    time.Time
}

// Status tells how a node is that ends like this.
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

// objects are those that are not as the node wants them, and why.
func (a *Account) objects() []inventory.ObjectStatus {
	var objects []inventory.ObjectStatus
	for i := range a.Steps.Of {
		s := &a.Steps.Of[i]
		if s.Reason == reason.LeftOut { // nothing was learned of it
			if told := a.told(s.Ref()); told != nil {
				objects = append(objects, *told)
			}
			continue
		}
		if why := s.complaint(); why != "" {
			ref := s.Ref()
			objects = append(objects, inventory.ObjectStatus{
				ID: s.ID(), Group: ref.Group, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name,
				Reason: why, Message: s.Says, Since: a.WaitedSince(s),
			})
		}
	}
	return objects
}

// told is what the last run recorded of an object, nil for nothing.
func (a *Account) told(ref lynq.Ref) *inventory.ObjectStatus {
	if a.Before == nil {
		return nil
	}
	return a.Before.Status.Object(ref)
}

// WaitedSince tells from when on an object is waited for that is not ready: since this
// run wrote it, or since it is recorded, for what is not written is not waited for
// from the beginning in each run. Zero where it is not waited for.
func (a *Account) WaitedSince(s *Step) time.Time {
	if !s.Unready() {
		return time.Time{}
	}
	if s.Action == plan.ActionKeep && !s.Hook() { // each run waits for a hook as long as it may take
		if told := a.told(s.Ref()); told != nil && !told.Since.IsZero() && told.Since.Before(a.Now) {
			return told.Since
		}
	}
	if s.Since.IsZero() {
		return a.Began
	}
	return s.Since
}
