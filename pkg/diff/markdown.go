package diff

import (
	"fmt"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/markdown"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

const (
	// maxTable limits the bytes of the table at the top, and maxBlock those of an object's diff.
	maxTable = 15_000
	maxBlock = 20_000
	// maxLeaving limits the names of nodes in their grace period.
	maxLeaving = 20
	// maxEvidence limits the bytes of the comparison with the rows of the last run.
	maxEvidence = 5_000
	// maxGroups limits the bytes up to the end of the groups, and maxSample those of a sample.
	// maxNames limits the named nodes of a group, and maxGroupFields its fields.
	maxGroups      = 40_000
	maxSample      = 4_000
	maxNames       = 200
	maxGroupFields = 10
	// reserve is for the lines at the end that count the omitted parts.
	reserve = 500
)

// OnlyTracking says that nothing else of an object changes.
const OnlyTracking = "only the labels, annotations, and owner references that track it change"

// Markdown returns a report as a comment on a pull request: groups of many changes first, then a
// table of the other objects, and their nodes folded. It counts what doesn't fit.
func Markdown(r *Report) string {
	m := &comment{}
	m.head(r)
	m.evidence(r)
	m.WriteString(FormsMarkdown(r.Changes().Edits()))
	grouped := m.groups(r.Changes())
	m.table(r, grouped)
	left := 0
	for i := range r.Nodes {
		left += m.node(&r.Nodes[i], grouped)
	}
	if left > 0 {
		m.write("\n**The differences of %s are left out**: the comment would be too long. `lynqctl diff` shows them.\n", phrase.Count(left, "object"))
	}
	return m.String()
}

// comment collects the text of a report.
type comment struct{ markdown.Comment }

func (m *comment) write(format string, args ...any) { fmt.Fprintf(&m.Builder, format, args...) }

// fits reports whether there is room for more text.
func (m *comment) fits(n, most int) bool { return m.Len()+n <= most-reserve }

func (m *comment) head(r *Report) {
	c := r.Counts()
	switch {
	case c.Objects == 0 && c.Problems == 0:
		m.write("### lynqctl diff: nothing would change\n")
	default:
		m.write("### lynqctl diff: %d of %s would change\n", c.Nodes, phrase.Count(r.Total, "node"))
		if owners := c.Owners(); owners != "" {
			m.write("\n%s: %s\n", phrase.Count(c.Objects, "object"), owners)
		}
	}
	var lines []string
	for _, one := range r.Refusals {
		lines = append(lines, fmt.Sprintf("- **refused** (%s, hub %s): %s\n", markdown.Text(string(one.Guard)), markdown.Code(one.Hub.String()), markdown.Text(one.What)))
	}
	for _, f := range r.Changes().Found() {
		lines = append(lines, fmt.Sprintf("- **%s**: %s\n", f.Level, markdown.Text(f.String())))
	}
	for i := range r.Leaving {
		if l := &r.Leaving[i]; i < maxLeaving {
			lines = append(lines, fmt.Sprintf("- **leaving**: node %s: %s\n", markdown.Code(l.Name), markdown.Text(l.Message)))
		}
	}
	if more := len(r.Leaving) - maxLeaving; more > 0 {
		lines = append(lines, fmt.Sprintf("- **leaving**: %s more\n", phrase.Count(more, "node")))
	}
	failed := r.Failed()
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if nodes := failed[n]; nodes > 0 {
			others := ""
			if nodes > 1 {
				others = " and " + phrase.Count(nodes-1, "other")
			}
			lines = append(lines, fmt.Sprintf("- **failed**: node %s%s: %s\n", markdown.Code(n.Name), others, markdown.Text(n.Problem)))
		}
		for j := range n.Objects {
			if o := &n.Objects[j]; o.Problem != "" {
				lines = append(lines, fmt.Sprintf("- **apply would fail**: node %s, %s: %s\n", markdown.Code(n.Name), markdown.Code(nameOf(o)), markdown.Text(o.Problem)))
			}
		}
	}
	if len(lines) > 0 {
		m.write("\n")
		m.Lines(lines, maxTable-reserve, "- ... and %s\n", "more problem")
	}
}

// evidence says how the rows of each hub differ from those of the last run.
func (m *comment) evidence(r *Report) {
	var lines []string
	for _, fact := range compared(r) {
		lines = append(lines, "- "+markdown.Text(fact)+"\n")
	}
	if len(lines) > 0 {
		m.write("\nThe source, compared with the last run:\n\n")
		m.Lines(lines, m.Len()+maxEvidence, "- ... and %s\n", "more line")
	}
}

// groups lists the groups that stand for many objects. For each group it shows the common
// fields, the members that differ, a sample, and the names. It returns the grouped objects.
func (m *comment) groups(s *Changes) map[*Object]bool {
	grouped, left := map[*Object]bool{}, 0
	for i := range s.Groups {
		g := &s.Groups[i]
		if !g.Many() {
			continue
		}
		for _, k := range g.Members {
			grouped[s.Objects[k]] = true
		}
		if !m.group(s, i) {
			left++
		}
	}
	if left > 0 {
		m.write("\n**%s**\n", phrase.Count(left, "more group"))
	}
	return grouped
}

// group writes one group: all of it, or its title. It reports whether there was room.
func (m *comment) group(s *Changes, i int) bool {
	g := &s.Groups[i]
	var b strings.Builder
	b.WriteByte('\n')
	for k := range g.Fields {
		if k == maxGroupFields {
			fmt.Fprintf(&b, "- %s\n", phrase.Count(len(g.Fields)-k, "more field"))
			break
		}
		fmt.Fprintf(&b, "- %s\n", markdown.Code(g.Fields[k].String()))
	}
	for _, line := range s.Deviations(g) {
		fmt.Fprintf(&b, "- **%s**\n", markdown.Text(line))
	}
	sample := s.Sample(g)
	if diff := s.Objects[s.SampleOf(g)].Diff; diff != "" {
		fmt.Fprintf(&b, "\n<details><summary>For example %s</summary>\n%s\n</details>\n", markdown.Text(sample.Node.Name), fenced(diff, maxSample))
	}
	fmt.Fprintf(&b, "\n<details><summary>%s</summary>\n\n%s\n\n</details>\n", phrase.Count(g.Nodes, "node"), markdown.Text(s.Names(g.Members, maxNames)))
	title := fmt.Sprintf("\n**%d. %s**: %s\n", i+1, markdown.Text(s.Title(g)), markdown.Text(few(s.CausesAt(g))))
	for _, text := range []string{title + b.String(), title} {
		if m.fits(len(text), maxGroups) {
			m.WriteString(text)
			return true
		}
	}
	return false
}

// table lists each changed object outside of the groups, with the cause of its change.
func (m *comment) table(r *Report, grouped map[*Object]bool) {
	var rows []string
	for i := range r.Nodes {
		n := &r.Nodes[i]
		for j := range n.Objects {
			if o := &n.Objects[j]; shown(o) && !grouped[o] {
				rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |\n", markdown.Cell(n.Name), markdown.Cell(nameOf(o)), o.What(), markdown.Text(few(o.Causes()))))
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	m.write("\n| node | object | action | cause |\n|---|---|---|---|\n")
	m.Lines(rows, m.Len()+maxTable-reserve, "| ... | and %s | | |\n", "more object")
}

// node writes a folded node. It returns the number of objects that didn't fit.
func (m *comment) node(n *Node, grouped map[*Object]bool) int {
	head := fmt.Sprintf("\n<details><summary><b>%s</b> (namespace %s, form %s)</summary>\n", markdown.Text(n.Name), markdown.Text(n.Namespace), markdown.Text(n.Form.Name))
	const foot = "\n</details>\n"
	left := 0
	var b strings.Builder
	for i := range n.Objects {
		o := &n.Objects[i]
		if !shown(o) || grouped[o] {
			continue
		}
		text := block(o)
		if !m.fits(len(head)+b.Len()+len(text)+len(foot), markdown.MaxLength) {
			left++
			continue
		}
		b.WriteString(text)
	}
	if b.Len() > 0 {
		m.WriteString(head + b.String() + foot)
	}
	return left
}

// few returns the first of some causes.
func few(causes []string) string {
	const most = 3
	if len(causes) > most {
		return strings.Join(causes[:most], "; ") + fmt.Sprintf("; and %d more", len(causes)-most)
	}
	return strings.Join(causes, "; ")
}

func shown(o *Object) bool { return o.Problem == "" && !o.Skipped && o.Changes() }

// block returns an object: its fields with their causes, and its diff.
func block(o *Object) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n**%s** %s: %s\n", markdown.Code(nameOf(o)), o.What(), markdown.Text(few(o.Causes())))
	if o.Note != "" {
		fmt.Fprintf(&b, "\n%s\n", markdown.Text(o.Note))
	}
	if len(o.Causes()) > 1 {
		b.WriteByte('\n')
		for i := range o.Fields {
			fmt.Fprintf(&b, "- %s: %s\n", markdown.Code(o.Fields[i].Path.String()), markdown.Text(o.Fields[i].Cause.String()))
		}
	}
	if o.Diff == "" {
		fmt.Fprintf(&b, "\n%s\n", o.Unseen())
		return b.String()
	}
	b.WriteString(fenced(o.Diff, maxBlock))
	return b.String()
}

// fenced returns a unified diff as a block of limited size.
func fenced(diff string, most int) string {
	text, cut := shorten(markdown.Printable(diff), most)
	fence := markdown.Fence(text)
	block := fmt.Sprintf("\n%sdiff\n%s%s\n", fence, text, fence)
	if cut > 0 {
		block += fmt.Sprintf("\n%s left out.\n", phrase.Count(cut, "more line"))
	}
	return block
}

// shorten cuts a text at the end of a line, and counts the missing lines.
func shorten(text string, most int) (string, int) {
	if len(text) <= most {
		return text, 0
	}
	end := strings.LastIndexByte(text[:most], '\n') + 1
	return text[:end], strings.Count(text[end:], "\n")
}

func nameOf(o *Object) string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}
