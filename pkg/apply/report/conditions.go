package report

import (
	"regexp"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// Conditions returns the conditions of a node with this outcome, without their times.
// problems say what went wrong. allReady is set if every awaited object is ready.
func Conditions(o Outcome, problems []string, allReady bool) []inventory.Condition {
	ready := inventory.Condition{Type: inventory.ConditionReady, Status: "True", Reason: "AllReady"}
	progressing := inventory.Condition{Type: inventory.ConditionProgressing, Status: "False", Reason: "Done"}
	degraded := inventory.Condition{Type: inventory.ConditionDegraded, Status: "False", Reason: "AsDesired"}
	switch {
	case o == OutcomeInterrupted:
		ready.Status, ready.Reason = "Unknown", conditionReason(o)
		progressing.Status, progressing.Reason, progressing.Message = "True", conditionReason(o), Shorten(strings.Join(problems, "; "))
	case !o.Well():
		ready.Status, ready.Reason = "False", conditionReason(o)
		degraded.Status, degraded.Reason, degraded.Message = "True", conditionReason(o), Shorten(strings.Join(problems, "; "))
	case !allReady:
		ready.Status, ready.Reason = "Unknown", "NotWaitedFor"
		progressing.Status, progressing.Reason = "True", "NotWaitedFor"
	}
	return []inventory.Condition{degraded, progressing, ready}
}

// FailedConditions returns the conditions of a node for which lynqctl wrote nothing. An
// empty reason stands for any failure.
func FailedConditions(reason, message string) []inventory.Condition {
	conditions := Conditions(OutcomeFailed, []string{message}, false)
	for i := range conditions {
		if c := &conditions[i]; reason != "" && c.Reason == conditionReason(OutcomeFailed) {
			c.Reason = reason
		}
	}
	return conditions
}

func conditionReason(o Outcome) string {
	switch o {
	case OutcomeConflicted:
		return "ResourceConflict"
	case OutcomeNotReady:
		return "NotReady"
	case OutcomeSkipped:
		return "Skipped"
	case OutcomeInterrupted:
		return "Interrupted"
	}
	return "Failed"
}

// Shorten limits a message to 1 KiB, so that it fits into a record.
func Shorten(message string) string {
	const most = 1024
	if len(message) <= most {
		return message
	}
	return strings.ToValidUTF8(message[:most], "") + "…"
}

// Uncount removes counts of restarts from a status. Otherwise lynqctl would write the
// inventory whenever a container restarts.
func Uncount(st *inventory.Status) {
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
