package diff

import (
	"fmt"
	"strings"
	"unicode"
)

const (
	// maxMarkdown is how many bytes, and so characters, a report in Markdown has
	// at most. GitHub takes comments of 65 536 characters, GitLab of more.
	maxMarkdown = 60_000
	// maxTable is how many of them the table at the top takes, maxBlock the diff
	// of one object.
	maxTable = 15_000
	maxBlock = 20_000
	// reserve is for what is said at the end of what was left out.
	reserve = 500
)

// OnlyTracking says of an object that nothing else of it changes.
const OnlyTracking = "only labels, annotations and owners change by which lynqctl knows what is its own"

// Markdown is a report as a comment on a pull request: a table first, then each
// node folded. What does not fit is counted.
func Markdown(r *Report) string {
	m := &markdown{}
	m.head(r)
	m.table(r)
	left := 0
	for i := range r.Nodes {
		left += m.node(&r.Nodes[i])
	}
	if left > 0 {
		m.write("\n**The differences of %s are left out**: the comment would be too long. `lynqctl diff` shows them.\n", counted(left, "object"))
	}
	return m.b.String()
}

// markdown is a comment in the making.
type markdown struct{ b strings.Builder }

func (m *markdown) write(format string, args ...any) { fmt.Fprintf(&m.b, format, args...) }

// fits tells whether so much more may be written.
func (m *markdown) fits(n, most int) bool { return m.b.Len()+n <= most-reserve }

func (m *markdown) head(r *Report) {
	c := r.Counts()
	switch {
	case c.Objects == 0 && c.Problems == 0:
		m.write("### lynqctl diff: nothing would change\n")
	default:
		m.write("### lynqctl diff: %d of %s would change\n", c.Nodes, counted(r.Total, "node"))
		if owners := c.Owners(); owners != "" {
			m.write("\n%s: %s\n", counted(c.Objects, "object"), owners)
		}
	}
	var lines []string
	for _, one := range r.Refusals {
		lines = append(lines, fmt.Sprintf("- **refused** (%s, hub %s): %s\n", plainText(one.Guard), code(one.Hub.String()), plainText(one.What)))
	}
	failed := r.Failed()
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if nodes := failed[n.Problem]; nodes > 0 {
			others := ""
			if nodes > 1 {
				others = " and " + counted(nodes-1, "other")
			}
			lines = append(lines, fmt.Sprintf("- **failed**: node %s%s: %s\n", code(n.Name), others, plainText(n.Problem)))
			delete(failed, n.Problem)
		}
		for j := range n.Objects {
			if o := &n.Objects[j]; o.Problem != "" {
				lines = append(lines, fmt.Sprintf("- **apply would fail**: node %s, %s: %s\n", code(n.Name), code(nameOf(o)), plainText(o.Problem)))
			}
		}
	}
	if len(lines) > 0 {
		m.write("\n")
		m.lines(lines, maxTable, "- ... and %s\n", "more problem")
	}
}

// table lists what changes, and why.
func (m *markdown) table(r *Report) {
	var rows []string
	for i := range r.Nodes {
		n := &r.Nodes[i]
		for j := range n.Objects {
			if o := &n.Objects[j]; shown(o) {
				rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |\n", cell(n.Name), cell(nameOf(o)), o.What(), plainText(few(o.Causes()))))
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	m.write("\n| node | object | action | cause |\n|---|---|---|---|\n")
	m.lines(rows, m.b.Len()+maxTable, "| ... | and %s | | |\n", "more object")
}

// lines writes lines up to a length, and counts the rest.
func (m *markdown) lines(lines []string, most int, rest, what string) {
	for i, l := range lines {
		if !m.fits(len(l), most) {
			m.write(rest, counted(len(lines)-i, what))
			return
		}
		m.b.WriteString(l)
	}
}

// node is a node, folded. It gives how many of its objects did not fit.
func (m *markdown) node(n *Node) int {
	head := fmt.Sprintf("\n<details><summary><b>%s</b> (namespace %s, form %s)</summary>\n", plainText(n.Name), plainText(n.Namespace), plainText(n.Form.Name))
	const foot = "\n</details>\n"
	left := 0
	var b strings.Builder
	for i := range n.Objects {
		o := &n.Objects[i]
		if !shown(o) {
			continue
		}
		text := block(o)
		if !m.fits(len(head)+b.Len()+len(text)+len(foot), maxMarkdown) {
			left++
			continue
		}
		b.WriteString(text)
	}
	if b.Len() > 0 {
		m.b.WriteString(head + b.String() + foot)
	}
	return left
}

// few are the first of some causes.
func few(causes []string) string {
	const most = 3
	if len(causes) > most {
		return strings.Join(causes[:most], "; ") + fmt.Sprintf("; and %d more", len(causes)-most)
	}
	return strings.Join(causes, "; ")
}

func shown(o *Object) bool { return o.Problem == "" && !o.Skipped && o.Changes() }

// block is an object: why, field by field, and its diff.
func block(o *Object) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n**%s** %s: %s\n", code(nameOf(o)), o.What(), plainText(few(o.Causes())))
	if o.Note != "" {
		fmt.Fprintf(&b, "\n%s\n", plainText(o.Note))
	}
	if len(o.Causes()) > 1 {
		b.WriteByte('\n')
		for i := range o.Fields {
			fmt.Fprintf(&b, "- %s: %s\n", code(o.Fields[i].Path.String()), plainText(o.Fields[i].Cause.String()))
		}
	}
	if o.Diff == "" {
		fmt.Fprintf(&b, "\n%s\n", OnlyTracking)
		return b.String()
	}
	text, cut := shorten(printed(o.Diff))
	fence := fenceFor(text)
	fmt.Fprintf(&b, "\n%sdiff\n%s%s\n", fence, text, fence)
	if cut > 0 {
		fmt.Fprintf(&b, "\n%s left out.\n", counted(cut, "more line"))
	}
	return b.String()
}

// shorten cuts a text at the end of a line, and counts the lines that are gone.
func shorten(text string) (string, int) {
	if len(text) <= maxBlock {
		return text, 0
	}
	end := strings.LastIndexByte(text[:maxBlock], '\n') + 1
	return text[:end], strings.Count(text[end:], "\n")
}

// fenceFor is a fence that the text cannot end.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

// printed replaces what does not print, or turns the direction of writing.
func printed(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) || unicode.Is(unicode.Zs, r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// plainText is text that no Markdown and no HTML is read in.
func plainText(s string) string {
	s = printed(strings.Join(strings.Fields(s), " "))
	return strings.NewReplacer(
		"&", "&amp;", "<", "&lt;", ">", "&gt;", "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
		"@", "&#64;", "#", "&#35;", "~", `\~`, "\\", `\\`,
	).Replace(s)
}

// code shows text as it is: in a fence that is longer than any in it.
func code(s string) string {
	s = printed(strings.Join(strings.Fields(s), " "))
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

// cell is code in a table.
func cell(s string) string { return strings.ReplaceAll(code(s), "|", `\|`) }

func nameOf(o *Object) string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
