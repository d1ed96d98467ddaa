package gitops

import (
	"cmp"
	"fmt"
	"io"
	"strings"
)

// maxMarkdown is how long a summary in Markdown gets. GitHub takes comments of
// 65 536 characters, GitLab of more.
const maxMarkdown = 60_000

// WriteMarkdown writes the report as a comment on a pull request.
func (r *Report) WriteMarkdown(w io.Writer) error {
	m := &markdown{}
	m.head(r)
	for _, s := range []struct {
		change Change
		title  string
	}{{Removed, "Removed"}, {Changed, "Changed"}, {Added, "Added"}} {
		m.section(s.title, s.change, r.Changes)
	}
	_, err := io.WriteString(w, m.b.String())
	return err
}

// markdown is a summary in the making.
type markdown struct{ b strings.Builder }

func (m *markdown) head(r *Report) {
	fmt.Fprintf(&m.b, "### lynqctl render: %s\n\n", r.headline())
	fmt.Fprint(&m.b, "| | added | changed | removed | unchanged |\n|---|--:|--:|--:|--:|\n")
	for _, line := range []struct {
		what string
		of   Counts
	}{{"nodes", r.Nodes.Counts}, {"objects", r.Objects}} {
		fmt.Fprintf(&m.b, "| %s | %d | %d | %d | %d |\n", line.what, line.of.Added, line.of.Changed, line.of.Removed, line.of.Unchanged)
	}
	if r.Nodes.Failed > 0 {
		fmt.Fprintf(&m.b, "\n**%s could not be rendered**, and keep the files that they have.\n", counted(r.Nodes.Failed, "node"))
	}
	if len(r.Conflicts) > 0 {
		them := "them"
		if len(r.Conflicts) == 1 {
			them = "it"
		}
		fmt.Fprintf(&m.b, "\n**%s left because others changed %s** (`--force` overwrites):\n\n", counted(len(r.Conflicts), "file"), them)
		lines := make([]string, len(r.Conflicts))
		for i, c := range r.Conflicts {
			lines[i] = fmt.Sprintf("- %s: %s\n", code(c.Path), c.Why)
		}
		m.lines(lines, maxMarkdown/4, "file")
	}
}

// headline says in a few words what happens.
func (r *Report) headline() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what Change
	}{{r.Nodes.Added, Added}, {r.Nodes.Changed, Changed}, {r.Nodes.Removed, Removed}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", counted(p.n, "node"), p.what))
		}
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case r.Changed:
		return fmt.Sprintf("no node changes, %s written", counted(r.Files.Written, "file"))
	}
	return "nothing changes"
}

// section is a folded list of the nodes with one change.
func (m *markdown) section(title string, what Change, changes []NodeChange) {
	var lines []string
	for i := range changes {
		if changes[i].Change == what {
			lines = append(lines, nodeLines(&changes[i]))
		}
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(&m.b, "\n<details><summary>%s: %s</summary>\n\n", title, counted(len(lines), "node"))
	const rest = len("\n</details>\n") * 4 // and the summaries of sections to come
	m.lines(lines, maxMarkdown-rest-3*200, "node")
	m.b.WriteString("\n</details>\n")
}

// lines writes lines until the summary has a length, and says how many of what
// are left.
func (m *markdown) lines(lines []string, most int, what string) {
	for i, l := range lines {
		if m.b.Len()+len(l) > most {
			fmt.Fprintf(&m.b, "- ... and %s\n", counted(len(lines)-i, "more "+what))
			return
		}
		m.b.WriteString(l)
	}
}

// nodeLines are the lines of a node. One that comes or goes needs no more than
// the names of its objects.
func nodeLines(n *NodeChange) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- **%s** (hub %s, namespace %s)\n", code(n.Node), code(cmp.Or(n.hub, n.Hub)), code(n.Namespace))
	for i := range n.Objects {
		o := &n.Objects[i]
		fmt.Fprintf(&b, "  - %s", code(o.Object))
		if n.Change == Changed {
			fmt.Fprintf(&b, " %s", o.Change)
		}
		for j, f := range o.Fields {
			sign := ":"
			if j > 0 {
				sign = ","
			}
			fmt.Fprintf(&b, "%s %s", sign, code(f.Field))
			if len(f.Columns) > 0 {
				columns := make([]string, len(f.Columns))
				for k, c := range f.Columns {
					columns[k] = code(c)
				}
				fmt.Fprintf(&b, " (from %s)", strings.Join(columns, ", "))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// code shows text as it is: in a fence that is longer than any in it.
func code(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}
