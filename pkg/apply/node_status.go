package apply

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// nodeStatus makes the status of a node that its inventory records.
type nodeStatus struct {
	steps  *Steps
	before *inventory.Inventory // when the plan was made
	began  time.Time
	now    time.Time
}

// as returns the recorded status of a node that ends like this.
func (n *nodeStatus) as(outcome report.Outcome, problems []string) inventory.Status {
	st := inventory.Status{Objects: n.objects()}
	allReady := true
	for i := range n.steps.Of {
		s := &n.steps.Of[i]
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
	st.Conditions = conditions(outcome, problems, allReady)
	uncount(&st)
	return st
}

// objects returns the objects that aren't in their desired state, and why.
func (n *nodeStatus) objects() []inventory.ObjectStatus {
	var objects []inventory.ObjectStatus
	for i := range n.steps.Of {
		s := &n.steps.Of[i]
		if s.Reason == plan.ReasonLeftOut { // the run learned nothing about it
			if told := n.told(s.Ref()); told != nil {
				objects = append(objects, *told)
			}
			continue
		}
		if why := s.complaint(); why != "" {
			objects = append(objects, inventory.ObjectStatus{
				ID: s.ID(), RefFields: lynq.RefFields(s.Ref()),
				Reason: why, Message: s.Says, Since: n.waitedSince(s), Dropped: s.Object == nil,
			})
		}
	}
	return objects
}

// told returns the last run's record of an object, or nil.
func (n *nodeStatus) told(ref lynq.Ref) *inventory.ObjectStatus {
	if n.before == nil {
		return nil
	}
	return n.before.Status.Object(ref)
}

// waitedSince returns since when lynqctl waits for an object that isn't ready. That is
// since this run wrote it, or since the recorded time. So the wait for an unchanged object
// doesn't start again in each run. It returns zero if nobody waits for the object.
func (n *nodeStatus) waitedSince(s *Step) time.Time {
	if !s.Unready() {
		return time.Time{}
	}
	if s.Action == plan.ActionKeep && !s.Hook() { // each run waits for a hook for its full timeout
		if told := n.told(s.Ref()); told != nil && !told.Since.IsZero() && told.Since.Before(n.now) {
			return told.Since
		}
	}
	if s.Since.IsZero() {
		return n.began
	}
	return s.Since
}
