package apply

import (
	"regexp"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// ending is how a node ends. It is the one answer that the node's result, its record and
// its events have.
type ending struct {
	outcome  report.Outcome
	reason   reason.Reason // why it failed, where that is a word
	problems []string
}

// says adds a problem.
func (e *ending) says(problem string) { e.problems = append(e.problems, problem) }

// decide is how the node ends by its steps: as the worst of them. The record of a node
// that goes is deleted when gone. One that a person deleted keeps the record of what is
// left alone, which would be collected with it.
func (e *ending) decide(all *steps, p *plan.NodePlan, gone bool) {
	e.outcome = all.worst()
	switch {
	case e.outcome == report.OutcomeUnchanged && gone:
		e.outcome = report.OutcomeDone
	case p.Deleted && e.outcome.Well():
		for i := range all.of {
			if why, keeps := all.of[i].keepsRecord(); keeps {
				e.says(all.of[i].Ref().String() + ": lynqctl keeps the inventory, because " + why)
				e.outcome = report.OutcomeSkipped
			}
		}
	}
}

// keepsRecord tells whether the object of a step keeps the record of its node, and why.
func (s *stepRun) keepsRecord() (why string, keeps bool) {
	why = s.Message
	switch {
	case s.entry == nil:
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

// uncount takes counts out of what is recorded: a container that restarts again is no
// change of the node, and the inventory is not written for it.
func uncount(st *inventory.Status) {
	counts := regexp.MustCompile(`, [0-9]+ restarts?\b`) // as ready.Cause has them
	for i := range st.Objects {
		st.Objects[i].Message = counts.ReplaceAllString(st.Objects[i].Message, "")
	}
	for i := range st.Conditions {
		st.Conditions[i].Message = counts.ReplaceAllString(st.Conditions[i].Message, "")
	}
}

// conditions are those of the node, without their times.
func (e *ending) conditions(allReady bool) []inventory.Condition {
	ready := inventory.Condition{Type: inventory.ConditionReady, Status: "True", Reason: "AllReady"}
	progressing := inventory.Condition{Type: inventory.ConditionProgressing, Status: "False", Reason: "Done"}
	degraded := inventory.Condition{Type: inventory.ConditionDegraded, Status: "False", Reason: "AsDesired"}
	switch {
	case e.outcome == report.OutcomeInterrupted:
		ready.Status, ready.Reason = "Unknown", reasonOf(e.outcome)
		progressing.Status, progressing.Reason, progressing.Message = "True", reasonOf(e.outcome), shorten(strings.Join(e.problems, "; "))
	case !e.outcome.Well():
		ready.Status, ready.Reason = "False", reasonOf(e.outcome)
		degraded.Status, degraded.Reason, degraded.Message = "True", reasonOf(e.outcome), shorten(strings.Join(e.problems, "; "))
	case !allReady:
		ready.Status, ready.Reason = "Unknown", "NotWaitedFor"
		progressing.Status, progressing.Reason = "True", "NotWaitedFor"
	}
	return []inventory.Condition{degraded, progressing, ready}
}

// failedFor are the conditions of a node of which nothing was written.
func failedFor(reason, message string) []inventory.Condition {
	e := ending{outcome: report.OutcomeFailed, problems: []string{message}}
	conditions := e.conditions(false)
	for i := range conditions {
		if c := &conditions[i]; c.Reason == reasonOf(report.OutcomeFailed) {
			c.Reason = reason
		}
	}
	return conditions
}

func reasonOf(o report.Outcome) string {
	switch o {
	case report.OutcomeConflicted:
		return "ResourceConflict"
	case report.OutcomeNotReady:
		return "NotReady"
	case report.OutcomeSkipped:
		return "Skipped"
	case report.OutcomeInterrupted:
		return "Interrupted"
	}
	return "Failed"
}

// shorten keeps a message small enough for a record.
func shorten(message string) string {
	const most = 1024
	if len(message) <= most {
		return message
	}
	return strings.ToValidUTF8(message[:most], "") + "…"
}
