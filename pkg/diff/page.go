package diff

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/page"
)

// Page shows a report as a page for a browser.
func Page(title string, r *Report) *page.Page {
	p := &page.Page{Title: title, Facts: append(facts(r), compared(r)...)}
	for _, one := range r.Refusals {
		p.Notices = append(p.Notices, page.Notice{Label: "refused (" + string(one.Guard) + ")", Text: "hub " + one.Hub.String() + ": " + one.What, Fix: one.Fix})
	}
	set, numbers := r.Changes(), map[*Object]int{}
	for k, number := range set.Numbers() {
		numbers[set.Objects[k]] = number
	}
	p.Notices, p.Tables = append(p.Notices, PageFindings(set.Set)...), PageGroups(set.Set)
	failed := failures{places: map[string]int{}}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		failed.see(n)
		if node := pageNode(n, numbers); len(node.Objects) > 0 {
			p.Nodes = append(p.Nodes, *node)
		}
	}
	p.Notices, p.Forms = append(p.Notices, failed.notices()...), PageForms(r.Changes().Edits())
	for i := range r.Leaving {
		l := &r.Leaving[i]
		p.Notices = append(p.Notices, page.Notice{Label: "leaving", Text: "node " + l.Name + ": " + l.Message, Tone: page.Worry})
	}
	return p
}

// PageFindings returns a notice for each finding of a change set.
func PageFindings(s *changeset.Set) []page.Notice {
	var notices []page.Notice
	for _, f := range s.Found() {
		n := page.Notice{Label: string(f.Level), Text: f.String(), Tone: page.Worry}
		if f.Level == changeset.Danger {
			n.Tone = page.Plain
		}
		notices = append(notices, n)
	}
	return notices
}

// PageGroups returns a table of the groups that stand for many nodes, or none.
func PageGroups(s *changeset.Set) []page.Table {
	t := page.Table{
		Title:   "Changes of many nodes",
		Columns: []page.Column{{Name: "GROUP", Filters: true}, {Name: "CHANGE"}, {Name: "FIELDS"}, {Name: "CAUSE"}, {Name: "FINDINGS"}},
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		if !g.Many() {
			continue
		}
		var fields, findings []string
		for k := range g.Fields {
			if k == maxGroupFields {
				fields = append(fields, fmt.Sprintf("and %d more", len(g.Fields)-k))
				break
			}
			fields = append(fields, g.Fields[k].String())
		}
		for _, code := range g.Findings {
			findings = append(findings, string(code))
		}
		fields = append(fields, s.Deviations(g)...)
		t.Rows = append(t.Rows, page.Row{Cells: []string{
			PageGroup(i + 1), s.Title(g), strings.Join(fields, "; "), strings.Join(s.CausesAt(g), "; "), strings.Join(findings, ", "),
		}})
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return []page.Table{t}
}

// PageGroup returns how a page names a group, or "" for 0.
func PageGroup(number int) string {
	if number == 0 {
		return ""
	}
	return "#" + strconv.Itoa(number)
}

// failures are the problems of nodes and objects, each cause once.
type failures struct {
	places map[string]int // of the causes in list
	list   []failure
}

// failure is the first problem with a cause.
type failure struct {
	label, object, why, shared string
	nodes                      []lynq.NodeID // that have a problem with this cause
}

// see notes the problems of a node and its objects.
func (f *failures) see(n *Node) {
	if n.Problem != "" {
		f.add(n.NodeID, failure{label: "failed", why: n.Problem, shared: n.Shared})
	}
	for i := range n.Objects {
		if o := &n.Objects[i]; o.Problem != "" {
			f.add(n.NodeID, failure{label: "apply would fail", object: ", " + nameOf(o), why: o.Problem})
		}
	}
}

func (f *failures) add(of lynq.NodeID, one failure) {
	key := one.label + "\x00" + report.CauseOf(of, &report.Details{Message: one.why, Shared: one.shared})
	i, known := f.places[key]
	if !known {
		i = len(f.list)
		f.places[key], f.list = i, append(f.list, one)
	}
	nodes := &f.list[i].nodes
	if n := len(*nodes); n == 0 || (*nodes)[n-1] != of {
		*nodes = append(*nodes, of)
	}
}

// notices returns a notice for each cause.
func (f *failures) notices() []page.Notice {
	var all []page.Notice
	for _, one := range f.list {
		nodes := "node " + one.nodes[0].Name
		if more := len(one.nodes) - 1; more > 0 {
			nodes += " and " + phrase.Count(more, "other")
		}
		all = append(all, page.Notice{Label: one.label, Text: nodes + one.object + ": " + one.why})
	}
	return all
}

// compared are facts about the rows of each hub, compared with those of the last run.
func compared(r *Report) []string {
	var facts []string
	for i := range r.Evidence {
		e := &r.Evidence[i]
		for _, line := range e.All() {
			facts = append(facts, "hub "+e.Hub.String()+": "+line)
		}
	}
	return facts
}

// facts sum a report up.
func facts(r *Report) []string {
	c := r.Counts()
	if c.Objects == 0 && c.Problems == 0 {
		return []string{"nothing would change: " + phrase.Count(r.Total, "node")}
	}
	facts := []string{fmt.Sprintf("%d of %s would change: %s", c.Nodes, phrase.Count(r.Total, "node"), phrase.Count(c.Objects, "object"))}
	if owners := c.Owners(); owners != "" {
		facts = append(facts, owners)
	}
	return facts
}

// pageNode is a node with its changes, without objects for which apply would fail.
func pageNode(n *Node, numbers map[*Object]int) *page.Node {
	node := &page.Node{Name: n.Name, Where: "namespace " + n.Namespace + ", form " + n.Form.Name}
	for i := range n.Objects {
		o := &n.Objects[i]
		if o.Problem != "" || !shown(o) {
			continue
		}
		change := page.Object{Name: nameOf(o), Action: o.What(), Cause: few(o.Causes()), Note: o.Note, Diff: o.Diff, Group: PageGroup(numbers[o])}
		if o.Diff == "" && change.Note == "" {
			change.Note = o.Unseen()
		}
		node.Objects = append(node.Objects, change)
	}
	return node
}
