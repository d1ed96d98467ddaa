package apply

import (
	"regexp"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// conditions returns the conditions of a node with this outcome, without their times.
// problems say what went wrong. allReady is set if every awaited object is ready.
func conditions(o report.Outcome, problems []string, allReady bool) []inventory.Condition {
	ready := inventory.Condition{Type: inventory.ConditionReady, Status: "True", Reason: "AllReady"}
	progressing := inventory.Condition{Type: inventory.ConditionProgressing, Status: "False", Reason: "Done"}
	degraded := inventory.Condition{Type: inventory.ConditionDegraded, Status: "False", Reason: "AsDesired"}
	switch {
	case o == report.OutcomeInterrupted:
		ready.Status, ready.Reason = "Unknown", conditionReason(o)
		progressing.Status, progressing.Reason, progressing.Message = "True", conditionReason(o), shorten(strings.Join(problems, "; "))
	case !o.Well():
		ready.Status, ready.Reason = "False", conditionReason(o)
		degraded.Status, degraded.Reason, degraded.Message = "True", conditionReason(o), shorten(strings.Join(problems, "; "))
	case !allReady:
		ready.Status, ready.Reason = "Unknown", "NotWaitedFor"
		progressing.Status, progressing.Reason = "True", "NotWaitedFor"
	}
	return []inventory.Condition{degraded, progressing, ready}
}

// failedConditions returns the conditions of a node for which lynqctl wrote nothing. An
// empty reason stands for any failure.
func failedConditions(reason, message string) []inventory.Condition {
	all := conditions(report.OutcomeFailed, []string{message}, false)
	for i := range all {
		if c := &all[i]; reason != "" && c.Reason == conditionReason(report.OutcomeFailed) {
			c.Reason = reason
		}
	}
	return all
}

func conditionReason(o report.Outcome) string {
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

// shorten limits a message to 1 KiB, so that it fits into a record.
func shorten(message string) string {
	const most = 1024
	if len(message) <= most {
		return message
	}
	return strings.ToValidUTF8(message[:most], "") + "…"
}

// uncount removes counts of restarts from a status. Otherwise lynqctl would write the
// inventory whenever a container restarts.
func uncount(st *inventory.Status) {
	for i := range st.Objects {
		st.Objects[i].Message = uncounted(st.Objects[i].Message)
	}
	for i := range st.Conditions {
		st.Conditions[i].Message = uncounted(st.Conditions[i].Message)
	}
}

// uncounted compiles its expression only for a text that may match. Runs have many statuses,
// and few of them tell of restarts.
func uncounted(message string) string {
	if !strings.Contains(message, " restart") {
		return message
	}
	counts := regexp.MustCompile(`, [0-9]+ restarts?\b`) // the format comes from ready.Cause
	return counts.ReplaceAllString(message, "")
}
