package apply

import (
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// ending is the end of a node. The node's result, its inventory and its events all use it.
type ending struct {
	outcome  report.Outcome
	reason   plan.Reason // why it failed, if there is a word for it
	problems []report.Details
	secrets  *redact.Filter
}

// says adds a problem of the node.
func (e *ending) says(problem string) { e.add(report.Details{Message: problem}) }

// add adds a problem.
func (e *ending) add(problem report.Details) {
	problem.Message, problem.Shared = e.secrets.Hide(problem.Message), e.secrets.Hide(problem.Shared)
	e.problems = append(e.problems, problem)
}

// texts returns the problems as texts, for records.
func (e *ending) texts() []string {
	texts := report.ProblemTexts(e.problems)
	for i := range texts {
		texts[i] = e.secrets.Hide(texts[i])
	}
	return texts
}

// decide sets the node's outcome to the worst of its steps. gone says whether lynqctl
// deletes the inventory. If the user deleted the node, its inventory is kept while it lists
// an object that lynqctl leaves alone. Otherwise the garbage collector would delete that
// object.
func (e *ending) decide(all *Steps, p *plan.NodePlan, gone bool) {
	e.outcome = all.Worst()
	switch {
	case e.outcome == report.OutcomeUnchanged && gone:
		e.outcome = report.OutcomeDone
	case p.Deleted && e.outcome.Well():
		for i := range all.Of {
			if why, keeps := keepsRecord(&all.Of[i]); keeps {
				e.add(report.Details{Object: all.Of[i].Ref(), Message: "lynqctl keeps the inventory, because " + why})
				e.outcome = report.OutcomeSkipped
			}
		}
	}
}

// keepsRecord reports whether the object of a step keeps the inventory of its node, and
// why.
func keepsRecord(s *Step) (why string, keeps bool) {
	why = s.Message
	switch {
	case s.Record == nil:
		return "", false
	case s.Reason == plan.ReasonUnmanaged:
		why = decide.MarkedUnmanaged
	case s.Action != plan.ActionSkip:
		return "", false
	}
	if s.Reason != plan.ReasonExcluded && s.Reason != plan.ReasonUnknown && s.Reason != plan.ReasonForeign { // these messages have a fix already
		why += " (remove it, then run again)"
	}
	return why, true
}
