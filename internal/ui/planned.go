package ui

import (
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// planText returns a plan as text: first the steps that are the same for many nodes, unless e
// names their group, then nodes by namespace and name, and below each its other steps in
// order. After a server dry run, each step shows its result.
func planText(all []nodeResult, format tty.Format, e Expand, out tty.Stream) (string, error) {
	shown := make([]nodeResult, 0, len(all))
	for _, n := range all {
		if len(n.steps) > 0 && (format == tty.Wide || n.works()) || n.bad() || n.outcome == report.OutcomeSkipped {
			shown = append(shown, n)
		}
	}
	switch format {
	case tty.YAML:
		for i := range shown {
			if !shown[i].bad() {
				shown[i].status = "" // a plan has no results of nodes that succeed
			}
		}
		return yamlText(shown, nil)
	case tty.Name:
		return namesText(shown), nil
	}
	groups, below := "", ""
	if format != tty.Wide {
		var err error
		if groups, shown, err = planGroups(shown, len(all), e, out); err != nil {
			return "", err
		}
		shown, below = fold(shown, (*nodeResult).planKey)
	}
	shown = briefly(shown)
	var b strings.Builder
	b.WriteString(groups)
	for i := range shown {
		b.WriteString(treeText(&shown[i], format == tty.Wide, out) + "\n")
	}
	return b.String() + out.Fitted(below+planLine(all)) + "\n", nil
}

// works reports whether a node has steps that change anything.
func (n *nodeResult) works() bool {
	for _, s := range n.steps {
		if s.Action != plan.ActionSkip && s.Action != plan.ActionKeep {
			return true
		}
	}
	return false
}

// treeText returns a node with its steps below. A node without steps has its problems
// there.
func treeText(n *nodeResult, wide bool, out tty.Stream) string {
	p := out.Paint()
	head := p.Bold(n.shownName()) + "  " + tty.Safe("namespace "+n.Namespace)
	if n.Form.Name != "" {
		head += tty.Safe(", form " + n.Form.Name)
	}
	skipped := n.outcome == report.OutcomeSkipped
	if n.bad() || skipped {
		head += "  " + p.Outcome(n.outcome, endWord(n.status))
	}
	var rows [][]string
	if len(n.steps) == 0 || skipped {
		for _, problem := range n.problems {
			rows = append(rows, []string{problem})
		}
	}
	for _, s := range n.steps {
		if !wide && (s.Action == plan.ActionSkip || s.Action == plan.ActionKeep) && s.Outcome != report.OutcomeFailed {
			continue
		}
		message := tty.Safe(s.Message)
		if bad(s.Outcome) {
			message = p.Bad(ended(s.Action, s.Outcome)) + colon(message)
		}
		row := []string{p.Action(s.Action, sign(s.Action)+" "+actionWord(s.Action)), leavingName(s.Object, s.Action, s.Adopted), tty.Safe(why(&s))}
		if wide {
			row = append(row, tty.Safe(s.ID))
		}
		rows = append(rows, append(row, message))
	}
	return out.Fitted(head) + "\n" + tty.Flow("  ", rows, out.Columns())
}

// sign returns a character for an action.
func sign(a plan.Action) string {
	switch a {
	case plan.ActionCreate, plan.ActionAdopt:
		return "+"
	case plan.ActionUpdate, plan.ActionRecreate, plan.ActionTrack:
		return "~"
	case plan.ActionPurge, plan.ActionDelete, plan.ActionCollect, plan.ActionOrphan, plan.ActionRelease:
		return "-"
	case plan.ActionBlock:
		return "!"
	}
	return " "
}

// planLine sums a plan up.
func planLine(all []nodeResult) string {
	counts, adopted := map[plan.Action]int{}, map[plan.Action]int{}
	working, failed, skipped := 0, 0, 0
	for i := range all {
		n := &all[i]
		switch {
		case n.outcome == report.OutcomeFailed:
			failed++
		case n.outcome == report.OutcomeSkipped:
			skipped++
		case n.works():
			working++
		}
		for _, s := range n.steps {
			counts[s.Action]++
			if s.Adopted && leaves(s.Action) {
				adopted[s.Action]++
			}
		}
	}
	delete(counts, plan.ActionKeep)
	delete(counts, plan.ActionSkip)
	if working == 0 && failed == 0 && skipped == 0 {
		if len(all) == 1 {
			return "No changes: 1 node is up to date"
		}
		return "No changes: all " + phrase.Count(len(all), "node") + " are up to date"
	}
	return Commas(
		strconv.Itoa(working)+" of "+phrase.Count(len(all), "node")+" to change",
		Some(failed, "failed"), Some(skipped, "skipped"),
	) + colon(planCounts(counts, adopted))
}
