package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/inventory/history"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Run is one run on one hub.
type Run struct {
	Hub lynq.HubKey
	*history.Entry
}

// runData is a run in JSON and YAML (docs/history.md).
type runData struct {
	Hub          string `json:"hub"`
	HubNamespace string `json:"hubNamespace"`
	*history.Entry
}

func (r Run) data() runData { return runData{r.Hub.Name, r.Hub.Namespace, r.Entry} }

// RunList lists runs.
func RunList(runs []Run, where string, warnings []string, now time.Time) *list.List {
	l := &list.List{
		Title: "history", At: now,
		Columns: []list.Column{
			{Name: "NAMESPACE"}, {Name: "HUB"}, {Name: "RUN"}, {Name: "AGE"}, {Name: "COMMAND"},
			{Name: "CHANGES", Flexible: true}, {Name: "RESULT", Flexible: true, Toned: true},
			{Name: "BY", Wide: true}, {Name: "FLAGS", Wide: true}, {Name: "APPROVAL", Wide: true}, {Name: "PLAN", Wide: true},
			{Name: "VERSION", Wide: true}, {Name: "JOB", Wide: true},
		},
		Empty:    "No recorded runs found in " + where,
		Warnings: warnings,
	}
	for _, r := range runs {
		l.Items = append(l.Items, list.Item{
			Cells: []string{
				r.Hub.Namespace, r.Hub.Name, r.Run, ago(now, r.Time), r.Command, changesText(r.Entry), result(r.Entry),
				r.By, strings.Join(r.Flags, " "), r.Approval, r.Plan, r.Version, r.Job,
			},
			Name: r.Run, Data: r.data(), Tone: outcomeTone(r.Outcome),
		})
	}
	return l
}

// changesText counts what a run did, in words, and the objects that are wrong after it.
func changesText(e *history.Entry) string {
	return Commas(append(DoneCounts(e.Counts.Actions), badCounts(e.Counts.Objects))...)
}

// result says how a run ended, and which guards refused something.
func result(e *history.Entry) string {
	var guards []string
	for _, r := range e.Refusals {
		if !slices.Contains(guards, r.Guard) {
			guards = append(guards, r.Guard)
		}
	}
	if len(guards) == 0 {
		return e.Outcome
	}
	return e.Outcome + " (" + strings.Join(guards, ", ") + ")"
}

func outcomeTone(outcome string) tty.Tone {
	switch outcome {
	case history.OutcomeDone, history.OutcomeApproved, history.OutcomeResumed:
		return tty.Good
	case history.OutcomeFailed, history.OutcomeRefused:
		return tty.Bad
	}
	return tty.Worry
}

// RunDetails shows runs with their changes: a group of equal changes in many nodes, or each
// object. It refuses the number of a group that none of the runs has.
func RunDetails(runs []Run, e Expand, now time.Time) ([]*list.Details, error) {
	groups, err := groupRuns(runs, e)
	if err != nil {
		return nil, err
	}
	var all []*list.Details
	for i, r := range runs {
		d := runDetails(r, now)
		groups.add(&d.Parts, i, r)
		if r.MoreNodes > 0 {
			addLine(&d.Parts, 0, fmt.Sprintf("and %s with %s", phrase.Count(r.MoreNodes, "node"), phrase.Count(r.MoreObjects, "object")))
		}
		all = append(all, d)
	}
	return all, nil
}

// runDetails shows a run without its changes.
func runDetails(r Run, now time.Time) *list.Details {
	d := &list.Details{
		Facts: []list.Fact{
			{Name: "Run", Text: r.Run},
			{Name: "Hub", Text: fmt.Sprintf("%s (namespace %s)", r.Hub.Name, r.Hub.Namespace)},
			{Name: "Time", Text: when(now, r.Time)},
			{Name: "Command", Text: strings.TrimSpace("lynqctl " + r.Command + " " + strings.Join(r.Flags, " "))},
			{Name: "Version", Text: r.Version},
			{Name: "By", Text: r.By},
			{Name: "Job", Text: r.Job},
			{Name: "Plan", Text: r.Plan},
			{Name: "Approval", Text: strings.TrimSpace(r.Approval + " " + r.Approved)},
			{Name: "Rows", Text: rowsText(r.Rows)},
			{Name: "Evidence", Text: strings.Join(r.Evidence, "; ")},
			{Name: "Forms", Text: formsText(r.Forms)},
			{Name: "Result", Text: textOfResult(r.Entry)},
		},
		Data: r.data(),
	}
	for _, refusal := range r.Refusals {
		d.Facts = append(d.Facts, list.Fact{Name: "Guard", Text: refusal.Guard + ": " + refusal.What})
	}
	d.Parts.Title, d.Parts.At = "history show", now
	d.Parts.Columns = []list.Column{
		{Name: "NODE AND OBJECT", Flexible: true, Needed: true}, {Name: "ACTION"}, {Name: "REASON", Flexible: true}, {Name: "RESULT", Toned: true}, {Name: "ID", Wide: true},
	}
	return d
}

func addLine(l *list.List, depth int, text string) {
	l.Items = append(l.Items, list.Item{Cells: []string{text, "", "", "", ""}, Depth: depth})
}

// addNode adds a node, with its objects below it.
func addNode(l *list.List, n *history.Node) {
	name := lynq.NodeKey{Namespace: n.Namespace, Name: n.Name}.String()
	if n.Row != "" {
		name += " (row " + n.Row + ")"
	}
	l.Items = append(l.Items, list.Item{
		Cells: []string{name, "", nodeWhy(n), n.Outcome, ""}, Name: name, Tone: stepTone(n.Outcome),
	})
	for i := range n.Objects {
		o := &n.Objects[i]
		l.Items = append(l.Items, list.Item{
			Cells: []string{o.Ref().Full(), ActionShown(o.Action), Shown(o.Reason), o.Outcome, o.ID},
			Name:  o.Ref().Full(), Tone: stepTone(o.Outcome), Depth: 1,
		})
	}
	if n.MoreObjects > 0 {
		addLine(l, 1, "and "+phrase.Count(n.MoreObjects, "object"))
	}
}

// nodeWhy says why a node ended as it did.
func nodeWhy(n *history.Node) string {
	why := Shown(n.Reason)
	if n.Message != "" {
		why = strings.TrimPrefix(why+": "+n.Message, ": ")
	}
	return phrase.OneLine(why)
}

func stepTone(outcome string) tty.Tone {
	switch outcome {
	case "done", "unchanged":
		return tty.Good
	case "failed", "conflicted":
		return tty.Bad
	}
	return tty.Worry
}

func rowsText(r *history.Rows) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("%d, %d of them active; rendered objects: digest %s", r.Rows, r.Active, r.Digest)
}

func formsText(forms []history.Form) string {
	var parts []string
	for _, f := range forms {
		parts = append(parts, fmt.Sprintf("%s/%s: digest %s", f.Namespace, f.Name, f.Digest))
	}
	return strings.Join(parts, ", ")
}

func textOfResult(e *history.Entry) string {
	if text := changesText(e); text != "" {
		return result(e) + ": " + text
	}
	return result(e)
}
