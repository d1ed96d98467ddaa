package ui

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Words for the state of a node that aren't outcomes.
const (
	statusDeleted = "deleted"  // the run deleted it
	statusMoved   = "moved"    // another node continues it
	statusNotDone = "not-done" // the run ended before its turn
)

// nodeResult is a node in the report.
type nodeResult struct {
	lynq.NodeID
	objects  int // of the node, or its former ones if lynqctl deletes the node
	changed  int // objects that were written or deleted
	ready    int // objects that are ready, as far as known
	outcome  report.Outcome
	status   string // the outcome, or the word that the table shows without one
	problems []string
	causes   []string         // the cause of each problem, see report.CauseOf
	unknown  bool             // lynqctl keeps it because a read failed
	steps    []report.Details // without steps that keep
	others   int              // further nodes that its row stands for, see fold
}

// why returns the reason of a step, and its cause.
func why(d *report.Details) string { return Shown(string(d.Reason)) + colon(d.Cause) }

// shown reports whether the node changed or failed.
func (n *nodeResult) shown() bool {
	return n.changed > 0 || n.status != string(report.OutcomeDone) && n.status != string(report.OutcomeUnchanged)
}

// bad reports whether something failed.
func bad(o report.Outcome) bool {
	return o == report.OutcomeFailed || o == report.OutcomeConflicted || o == report.OutcomeNotReady
}

func (n *nodeResult) bad() bool { return bad(n.outcome) }

// results returns the nodes of a run for reports, by namespace and name.
func results(of *report.Result) []nodeResult {
	all := make([]nodeResult, 0, len(of.Nodes))
	for i := range of.Nodes {
		ended := &of.Nodes[i]
		n := nodeResult{
			NodeID:  ended.NodeID,
			outcome: ended.Outcome, status: statusOf(ended), unknown: ended.Reason == plan.ReasonUnknown,
		}
		n.count(ended)
		for k := range ended.Problems {
			p := &ended.Problems[k]
			n.problems, n.causes = append(n.problems, tty.Safe(p.Problem())), append(n.causes, report.CauseOf(n.NodeID, p))
		}
		all = append(all, n)
	}
	slices.SortStableFunc(all, func(a, b nodeResult) int { return compareNodes(a.Key(), b.Key()) })
	return all
}

// statusOf returns a word for a node's result.
func statusOf(n *report.NodeResult) string {
	switch {
	case n.Outcome == report.OutcomeDone && n.Leaves && !n.LeavesAlone():
		if n.Moves() {
			return statusMoved
		}
		return statusDeleted
	case n.Outcome == "":
		return statusNotDone
	}
	return string(n.Outcome)
}

// count adds the steps, and counts objects.
func (n *nodeResult) count(ended *report.NodeResult) {
	for i := range ended.Steps {
		s := &ended.Steps[i]
		step := s.Step
		if step.Object != nil || ended.Leaves {
			n.objects++
		}
		if s.Ready {
			n.ready++
		}
		if changes(step.Action) && (s.Outcome == report.OutcomeDone || s.Outcome == report.OutcomeNotReady) {
			n.changed++
		}
		if step.Action == plan.ActionKeep && (s.Outcome == "" || s.Outcome == report.OutcomeUnchanged || s.Outcome == report.OutcomeSkipped && s.Says == "") {
			continue
		}
		told := s.Details()
		told.Message = cmp.Or(told.Message, step.Message)
		n.steps = append(n.steps, told)
	}
}

// hasWork reports whether a node has steps that change something, or would without a block.
func (n *nodeResult) hasWork() bool {
	return slices.ContainsFunc(n.steps, func(s report.Details) bool { return changes(s.Action) || s.Action == plan.ActionBlock })
}

// briefly shortens problems that many nodes share: all nodes after the first refer to it.
// Problems of objects stay for a few nodes each.
func briefly(nodes []nodeResult) []nodeResult {
	brief := slices.Clone(nodes)
	count, first := map[string]int{}, map[string]string{} // nodes, by problem
	for i := range brief {
		count[brief[i].problemsKey()]++
	}
	for i := range brief {
		n := &brief[i]
		why := n.problemsKey()
		if why == "" || !n.unknown && count[why] <= list.NamedOfCause {
			continue
		}
		if named, told := first[why]; told {
			n.problems = []string{"same error as " + named}
		} else {
			first[why] = tty.Safe(n.Name)
		}
	}
	return brief
}

// problemsKey returns the same key for nodes with the same problems, or "" without any.
func (n *nodeResult) problemsKey() string {
	if !n.bad() || len(n.problems) == 0 {
		return ""
	}
	return strings.Join(append([]string{n.status}, n.causes...), "\n")
}
