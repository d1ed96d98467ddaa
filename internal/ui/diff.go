package ui

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/diff"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// PrintDiff prints what an apply would change: groups of many objects that change in the same
// way, and then each other object, with a line that has the cause, and a unified diff.
func PrintDiff(r *diff.Report, e Expand, out tty.Stream) error {
	set := r.Changes()
	inGroup := map[*diff.Object]bool{}
	for i := range set.Groups {
		for _, m := range set.Groups[i].Members {
			inGroup[set.Objects[m]] = folded(set.Set, i, e) || e.Group > 0 && e.Group != i+1
		}
	}
	if e.Group == 0 {
		if _, err := io.WriteString(out, groupsText(set, e, out)); err != nil {
			return err
		}
	}
	return eachChange(r, func(n *diff.Node, o *diff.Object) error {
		if inGroup[o] {
			return nil
		}
		p := out.Paint()
		_, err := io.WriteString(out, diffHead(n, o, p)+paintedDiff(o.Diff, p))
		return err
	})
}

// PrintDiffHeads works like PrintDiff, without the diffs, which another program shows.
func PrintDiffHeads(r *diff.Report, out tty.Stream) error {
	return eachChange(r, func(n *diff.Node, o *diff.Object) error {
		_, err := io.WriteString(out, diffHead(n, o, out.Paint()))
		return err
	})
}

// PrintDiffNames prints the names of the objects that would change, each once.
func PrintDiffNames(r *diff.Report, out tty.Stream) error {
	var names []string
	_ = eachChange(r, func(_ *diff.Node, o *diff.Object) error {
		names = append(names, tty.Safe(o.Full())+"\n")
		return nil
	})
	slices.Sort(names)
	_, err := io.WriteString(out, strings.Join(slices.Compact(names), ""))
	return err
}

// PrintDiffProblems prints the refusals and errors of an apply, and a summary.
func PrintDiffProblems(r *diff.Report, out tty.Stream) {
	p := out.Paint()
	var b strings.Builder
	for _, one := range r.Refusals {
		b.WriteString(refusalText(one, p))
	}
	b.WriteString(findingsText(r.Changes().Set, p))
	for i := range r.Leaving {
		l := &r.Leaving[i]
		b.WriteString(p.Bold(l.Name) + "  " + p.Worry("is leaving") + ": " + tty.Safe(l.Message) + "\n")
	}
	failed, lines, rest := r.Failed(), 0, 0
	var again Repeats
	var many []report.NodeResult
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if nodes := failed[n]; nodes > 0 && lines == list.Few {
			rest += nodes
		} else if nodes > 0 {
			lines++
			who := tty.Safe(n.Name)
			if nodes > 1 {
				who += " and " + phrase.Count(nodes-1, "other")
			}
			b.WriteString(p.Bold(who) + "  " + p.Failed("failed") + ": " + tty.Safe(n.Problem) + "\n")
		}
		many = append(many, objectProblems(&b, n, p, &again))
	}
	if rest > 0 {
		b.WriteString(phrase.Count(rest, "more node") + "  " + p.Failed("failed") + ": pass -o json to list them\n")
	}
	for _, cause := range Causes(many) {
		b.WriteString(cause + "\n")
	}
	_, _ = io.WriteString(out, out.Fitted(b.String()+diffSum(r)+"\n")) // nobody could see that this fails
}

// objectProblems writes why apply would fail for objects of a node, unless other nodes had
// such lines. It returns all problems.
func objectProblems(b *strings.Builder, n *diff.Node, p tty.Paint, again *Repeats) report.NodeResult {
	of := report.NodeResult{NodeID: n.NodeID}
	for i := range n.Objects {
		o := &n.Objects[i]
		word, why := p.Failed("apply would fail"), o.Problem
		switch {
		case o.Problem != "":
			of.Problems = append(of.Problems, report.Details{Object: o.Ref, Message: o.Problem})
		case o.Skipped:
			word, why = p.Worry("would be left as it is"), o.Note
		default:
			continue
		}
		if !again.Again(n.NodeID, &report.Details{Object: o.Ref, Message: why}) {
			b.WriteString(p.Bold(n.Name) + "  " + objectName(o.Ref) + "  " + word + colon(tty.Safe(why)) + "\n")
		}
	}
	return of
}

// diffSum sums up a report in a line.
func diffSum(r *diff.Report) string {
	counts := r.Counts()
	if counts.Objects == 0 && counts.Problems == 0 {
		return "nothing would change: " + phrase.Count(r.Total, "node")
	}
	return strconv.Itoa(counts.Nodes) + " of " + phrase.Count(r.Total, "node") + " would change: " +
		Commas(phrase.Count(counts.Objects, "object"), counts.Owners(), Some(counts.Problems, "failed"))
}

// eachChange calls do for each object that would change.
func eachChange(r *diff.Report, do func(*diff.Node, *diff.Object) error) error {
	for i := range r.Nodes {
		n := &r.Nodes[i]
		for j := range n.Objects {
			o := &n.Objects[j]
			if o.Problem != "" || o.Skipped || !o.Changes() {
				continue
			}
			if err := do(n, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// diffHead says which object changes, and why. If the causes differ, it lists them by
// field.
func diffHead(n *diff.Node, o *diff.Object, p tty.Paint) string {
	causes := o.Causes()
	var b strings.Builder
	b.WriteString(changeHead(n.Name, o.Ref, p.Action(plan.Action(o.Action), o.What()), causes, p))
	if len(causes) > 1 {
		var rows [][]string
		for i := range o.Fields {
			rows = append(rows, []string{tty.Safe(o.Fields[i].Path.String()), tty.Safe(o.Fields[i].Cause.String())})
		}
		b.WriteString(tty.Align("  ", tty.ColumnGap, rows))
	}
	if o.Note != "" {
		b.WriteString("  " + p.Faint(o.Note) + "\n")
	}
	if o.Diff == "" {
		b.WriteString("  " + p.Faint(o.Unseen()) + "\n")
	}
	return b.String()
}

// changeHead says what happens to an object of a node. It names a cause that all fields share.
func changeHead(node string, ref lynq.Ref, what string, causes []string, p tty.Paint) string {
	head := p.Bold(node) + "  " + objectName(ref) + "  " + what
	if len(causes) == 1 {
		head += ": " + tty.Safe(causes[0])
	}
	return head + "\n"
}

// paintedDiff colours a unified diff line by line.
func paintedDiff(text string, p tty.Paint) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); !tty.Printable(line, "") {
			line = tty.Escaped(line, "")
		}
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			line = p.Bold(line)
		case strings.HasPrefix(line, "@@"):
			line = p.Faint(line)
		case strings.HasPrefix(line, "-"):
			line = p.Bad(line)
		case strings.HasPrefix(line, "+"):
			line = p.Good(line)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// wireDiff is a line of the JSON output (docs/diff.md).
type wireDiff struct {
	Type string `json:"type"`
	hubFields
	Form      string `json:"form,omitempty"`
	Node      string `json:"node,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	objectFields
	ID          string           `json:"id,omitempty"`
	Action      string           `json:"action,omitempty"`
	Reason      string           `json:"reason,omitempty"`
	Outcome     string           `json:"outcome,omitempty"`
	Cause       string           `json:"cause,omitempty"`
	Message     string           `json:"message,omitempty"`
	Adopted     bool             `json:"adopted,omitempty"`
	Tracking    bool             `json:"tracking,omitempty"`
	Changes     []wireField      `json:"changes,omitempty"`
	Diff        string           `json:"diff,omitempty"`
	Since       string           `json:"since,omitempty"`
	Until       string           `json:"until,omitempty"`
	Evidence    *wireEvidence    `json:"evidence,omitempty"`
	Findings    []changeset.Code `json:"findings,omitempty"`
	ChangeGroup *wireGroup       `json:"changeGroup,omitempty"`
	Edit        *changeset.Edit  `json:"edit,omitempty"`
	Counts      *wireCounts      `json:"counts,omitempty"`
}

type wireField struct {
	Path    string        `json:"path"`
	Op      diff.Op       `json:"op"`
	Before  any           `json:"before,omitempty"`
	After   any           `json:"after,omitempty"`
	Cause   string        `json:"cause"`
	Columns []string      `json:"columns,omitempty"`
	Form    string        `json:"form,omitempty"` // FILE:LINE
	Commits []string      `json:"commits,omitempty"`
	Manager *diff.Manager `json:"manager,omitempty"`
}

type wireCounts struct {
	Nodes          int `json:"nodes"`
	ChangedNodes   int `json:"changedNodes"`
	ChangedObjects int `json:"changedObjects"`
	AdoptedObjects int `json:"adoptedObjects,omitempty"`
	Problems       int `json:"problems"`
	Leaving        int `json:"leaving,omitempty"`
}

// diffForm is the type of a line about an edited form.
const diffForm = "form"

// diffEvidence is the type of a line about rows that differ from those of the last run.
const diffEvidence = "evidence"

// PrintDiffJSON prints a report as one JSON object per line. The last line is a summary.
// Without it, the output is incomplete.
func PrintDiffJSON(r *diff.Report, out io.Writer) error {
	counts := r.Counts()
	var lines []wireDiff
	for _, one := range r.Refusals {
		lines = append(lines, wireDiff{Type: string(eventRefusal), hubFields: hubFieldsOf(one.Hub), Reason: string(one.Guard), Message: joined(one.What, one.Fix)})
	}
	for i := range r.Leaving {
		l := &r.Leaving[i]
		lines = append(lines, wireDiff{
			Type: string(report.EventLeaving), hubFields: hubFieldsOf(l.Hub), Form: l.Form.Name, Node: l.Name, Namespace: l.Namespace,
			Since: l.Since.UTC().Format(eventTime), Until: l.Until.UTC().Format(eventTime), Message: l.Message,
		})
	}
	for i := range r.Evidence {
		e := &r.Evidence[i]
		lines = append(lines, wireDiff{Type: diffEvidence, hubFields: hubFieldsOf(e.Hub), Evidence: evidenceOf(e)})
	}
	for _, e := range r.Changes().Edits() {
		lines = append(lines, wireDiff{Type: diffForm, Form: e.Form, ID: e.Resource, Edit: e})
	}
	lines = append(lines, wireGroups(r.Changes().Set)...)
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if n.Problem != "" {
			lines = append(lines, wireDiff{
				Type: "node", hubFields: hubFieldsOf(n.Hub), Form: n.Form.Name, Node: n.Name, Namespace: n.Namespace,
				Outcome: string(report.OutcomeFailed), Message: n.Problem,
			})
		}
		for j := range n.Objects {
			lines = append(lines, wireObject(n, &n.Objects[j]))
		}
	}
	lines = append(lines, wireDiff{Type: string(report.EventSummary), Counts: &wireCounts{
		Nodes: r.Total, ChangedNodes: counts.Nodes, ChangedObjects: counts.Objects, AdoptedObjects: counts.Adopted, Problems: counts.Problems, Leaving: len(r.Leaving),
	}})
	for i := range lines {
		line, err := encode(&lines[i])
		if err == nil {
			_, err = out.Write(line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func wireObject(n *diff.Node, o *diff.Object) wireDiff {
	w := wireDiff{
		Type: string(report.EventObject), hubFields: hubFieldsOf(n.Hub), Form: n.Form.Name, Node: n.Name, Namespace: n.Namespace,
		objectFields: objectFieldsOf(o.Ref), ID: o.ID,
		Action: o.Action, Reason: o.Reason, Message: o.Note, Adopted: o.Adopted, Tracking: o.Tracking, Diff: o.Diff, Cause: string(o.Cause.Kind), Findings: o.Findings,
	}
	switch {
	case o.Problem != "":
		w.Outcome, w.Message = string(report.OutcomeFailed), o.Problem
	case o.Skipped:
		w.Outcome = string(report.OutcomeSkipped)
	}
	for i := range o.Fields {
		f := &o.Fields[i]
		w.Changes = append(w.Changes, wireField{
			Path: f.Path.String(), Op: f.Op, Before: f.Before, After: f.After,
			Cause: string(f.Cause.Kind), Columns: f.Cause.Columns, Commits: f.Cause.Edit.IDs(), Form: f.Cause.Form.String(), Manager: f.Cause.Manager,
		})
	}
	return w
}
