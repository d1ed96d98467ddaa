package apply

import (
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/progress"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// ending is how a node ends. It is the one answer that the node's result, its record and
// its events have.
type ending struct {
	outcome  report.Outcome
	reason   reason.Reason // why it failed, where that is a word
	problems []string
	mask     redact.Mask // of the row
}

// says adds a problem.
func (e *ending) says(problem string) { e.problems = append(e.problems, e.mask.Hide(problem)) }

// decide is how the node ends by its steps: as the worst of them. The record of a node
// that goes is deleted when gone. One that a person deleted keeps the record of what is
// left alone, which would be collected with it.
func (e *ending) decide(all *progress.Steps, p *plan.NodePlan, gone bool) {
	e.outcome = all.Worst()
	switch {
	case e.outcome == report.OutcomeUnchanged && gone:
		e.outcome = report.OutcomeDone
	case p.Deleted && e.outcome.Well():
		for i := range all.Of {
			if why, keeps := keepsRecord(&all.Of[i]); keeps {
				e.says(all.Of[i].Ref().String() + ": lynqctl keeps the inventory, because " + why)
				e.outcome = report.OutcomeSkipped
			}
		}
	}
}

// keepsRecord tells whether the object of a step keeps the record of its node, and why.
func keepsRecord(s *progress.Step) (why string, keeps bool) {
	why = s.Message
	switch {
	case s.Record == nil:
		return "", false
	case s.Reason == reason.Unmanaged:
		why = decide.MarkedUnmanaged
	case s.Action != plan.ActionSkip:
		return "", false
	}
	if s.Reason != reason.Excluded && s.Reason != reason.Unknown { // which say what to do
		why += " (remove it, then run again)"
	}
	return why, true
}
