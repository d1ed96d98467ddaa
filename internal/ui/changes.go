package ui

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/diff"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Expand says which groups of changes to show member by member.
type Expand struct {
	All bool
	// Group is the number of a group, from 1, or 0.
	Group int
}

// Check refuses a number that no group has.
func (e Expand) Check(s *changeset.Set) error {
	if last := len(s.Groups); last > 0 && e.Group > last {
		return &changeset.NoGroupError{Group: e.Group, Last: last}
	}
	return nil
}

const (
	// groupLines limits the lines of all groups together, if one of them is folded. The
	// title of each group and its fields count first, and what is left shows samples.
	groupLines = 32
	// groupFields limits the fields of a group, and sampleLines those of a sample.
	groupFields = 6
	sampleLines = 18
)

// groupsText returns the folded groups of a change set: what their members have in common,
// outliers, and a sample.
func groupsText(s *diff.Changes, e Expand, out tty.Stream) string {
	var b strings.Builder
	room := groupLines
	for i := range s.Groups {
		if folded(s.Set, i, e) {
			room -= 3 + min(len(s.Groups[i].Fields), groupFields) + len(s.Groups[i].Outliers)
		}
	}
	for i := range s.Groups {
		if !folded(s.Set, i, e) {
			continue
		}
		g := &s.Groups[i]
		b.WriteString(groupText(s.Set, i, diff.OnlyTracking, out))
		sample := s.Objects[s.SampleOf(g)]
		lines := strings.Count(sample.Diff, "\n")
		if sample.Diff == "" || room < min(lines, sampleLines) {
			continue
		}
		room -= min(lines, sampleLines)
		text, cut := firstLines(sample.Diff, sampleLines)
		b.WriteString(paintedDiff(text, out.Paint()))
		if cut > 0 {
			b.WriteString("  " + out.Paint().Faint(fmt.Sprintf("%s. To show them, pass --expand=%d.", phrase.Count(cut, "more line"), i+1)) + "\n")
		}
	}
	return b.String()
}

// folded reports whether a group stands for its members.
func folded(s *changeset.Set, i int, e Expand) bool {
	return !e.All && e.Group != i+1 && s.Groups[i].Many()
}

// groupText returns a group without a sample. unseen is the line for an update without a
// visible field, "" for none.
func groupText(s *changeset.Set, i int, unseen string, out tty.Stream) string {
	g, p := &s.Groups[i], out.Paint()
	var b strings.Builder
	line := func(text string) { b.WriteString(out.Fitted(text) + "\n") }
	line(p.Bold("#"+strconv.Itoa(i+1)) + "  " + tty.Safe(s.Title(g)) + colon(tty.Safe(strings.Join(s.CausesAt(g), "; "))))
	for k := range g.Fields {
		if k == groupFields {
			line("  and " + phrase.Count(len(g.Fields)-k, "more field"))
			break
		}
		text := "  " + tty.Safe(g.Fields[k].String())
		if len(s.Causes(g)) > 1 {
			text += colon(tty.Safe(g.Fields[k].Cause))
		}
		line(text)
	}
	if len(g.Fields) == 0 && unseen != "" && s.Sample(g).Action == "update" {
		line("  " + p.Faint(unseen))
	}
	line("  nodes: " + tty.Safe(s.NodeNames(g)))
	for _, deviation := range s.Deviations(g) {
		line("  " + p.Worry(tty.Safe(deviation)))
	}
	return b.String()
}

// PrintPlanFindings writes the findings of plans.
func PrintPlanFindings(plans []plan.Plan, out tty.Stream) error {
	_, err := io.WriteString(out, out.Fitted(findingsText(plan.Findings(plans), out.Paint())))
	return err
}

// findingsText returns the findings of a change set, the worst first.
func findingsText(s *changeset.Set, p tty.Paint) string {
	var b strings.Builder
	for _, f := range s.Found() {
		word := p.Worry(string(f.Level))
		switch f.Level {
		case changeset.Danger:
			word = p.Failed(string(f.Level))
		case changeset.Info:
			word = p.Faint(string(f.Level))
		}
		b.WriteString(word + "  " + tty.Safe(f.String()) + "\n")
	}
	return b.String()
}

// firstLines returns the first lines of a text, and how many it left out.
func firstLines(text string, most int) (string, int) {
	lines := strings.SplitAfter(text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	if len(lines) <= most {
		return text, 0
	}
	return strings.Join(lines[:most], ""), len(lines) - most
}

// diffGroup is the type of a line about objects that change in the same way.
const diffGroup = "group"

// wireGroup is a group of changes (docs/diff.md).
type wireGroup struct {
	Number   int          `json:"number"` // as --expand takes it
	Nodes    int          `json:"nodes"`
	Objects  int          `json:"objects"`
	Causes   []string     `json:"causes,omitempty"`
	Fields   []wireCommon `json:"fields,omitempty"`
	Members  []wireMember `json:"members"`
	Outliers []wireMember `json:"outliers,omitempty"`
}

// wireCommon is a field of a group. A value that varies is left out, and has the
// columns that feed it, if known.
type wireCommon struct {
	Path    string   `json:"path"`
	Op      string   `json:"op,omitempty"`
	Before  string   `json:"before,omitempty"` // as JSON
	After   string   `json:"after,omitempty"`
	Varies  bool     `json:"varies,omitempty"`
	Columns []string `json:"columns,omitempty"`
	Cause   string   `json:"cause"`
}

type wireMember struct {
	Node            string `json:"node"`
	Namespace       string `json:"namespace"`
	ObjectNamespace string `json:"objectNamespace,omitempty"`
	Name            string `json:"name"`
}

// Groups returns the groups of a change set as values for JSON, as diff has them in its lines.
func Groups(s *changeset.Set) []any {
	lines := wireGroups(s)
	all := make([]any, len(lines))
	for i := range lines {
		all[i] = &lines[i]
	}
	return all
}

// wireGroups returns a line for each group, also for those of one member.
func wireGroups(s *changeset.Set) []wireDiff {
	var lines []wireDiff
	for i := range s.Groups {
		g := &s.Groups[i]
		first := &s.Changes[g.Members[0]]
		group := &wireGroup{
			Number: i + 1, Nodes: g.Nodes, Objects: len(g.Members), Causes: s.Causes(g), Members: wireMembers(s, g.Members), Outliers: wireMembers(s, g.Outliers),
		}
		for k := range g.Fields {
			f := &g.Fields[k]
			one := wireCommon{Path: f.Path, Op: f.Op, Before: f.Before.Text, After: f.After.Text, Cause: f.Cause, Varies: f.Before.Varies || f.After.Varies}
			if one.Varies {
				one.Columns = first.Fields[k].Columns
			}
			group.Fields = append(group.Fields, one)
		}
		lines = append(lines, wireDiff{
			Type: diffGroup, hubFields: hubFieldsOf(first.Node.Hub), Form: first.Node.Form.Name, objectFields: objectFields{Group: first.Group, Kind: first.Kind}, ID: first.ID,
			Action: first.Action, Findings: g.Findings, ChangeGroup: group,
		})
	}
	return lines
}

func wireMembers(s *changeset.Set, members []int) []wireMember {
	var all []wireMember
	for _, m := range members {
		c := &s.Changes[m]
		all = append(all, wireMember{Node: c.Node.Name, Namespace: c.Node.Namespace, ObjectNamespace: c.Namespace, Name: c.Name})
	}
	return all
}
