package gitops

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/diff"
	"github.com/lynqctl/lynqctl/pkg/lynq/markdown"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// WriteMarkdown writes the report as a comment on a pull request.
func (r *Report) WriteMarkdown(w io.Writer) error {
	m := &comment{}
	m.head(r)
	m.groups(r)
	for _, s := range []struct {
		change Change
		title  string
	}{{Removed, "Removed"}, {Changed, "Changed"}, {Added, "Added"}} {
		m.section(s.title, s.change, r.Changes)
	}
	_, err := io.WriteString(w, m.String())
	return err
}

// comment is an unfinished report.
type comment struct{ markdown.Comment }

func (m *comment) head(r *Report) {
	m.refusals(r)
	fmt.Fprint(&m.Builder, "| | added | changed | removed | unchanged |\n|---|--:|--:|--:|--:|\n")
	for _, line := range []struct {
		what string
		of   Counts
	}{{"nodes", r.Nodes.Counts}, {"objects", r.Objects}} {
		fmt.Fprintf(&m.Builder, "| %s | %d | %d | %d | %d |\n", line.what, line.of.Added, line.of.Changed, line.of.Removed, line.of.Unchanged)
	}
	if r.Nodes.Failed > 0 {
		fmt.Fprintf(&m.Builder, "\n**%s failed to render**, and keep the files that they have.\n", phrase.Count(r.Nodes.Failed, "node"))
	}
	if r.Nodes.Waiting > 0 {
		fmt.Fprintf(&m.Builder, "\n**%s left for a later stage** (`--stage`), with the files that they have.\n", phrase.Count(r.Nodes.Waiting, "node"))
	}
	if len(r.Leaving) > 0 {
		fmt.Fprintf(&m.Builder, "\n**Leaving: %s**, whose files are removed at these times:\n\n", phrase.Count(len(r.Leaving), "node"))
		lines := make([]string, len(r.Leaving))
		for i := range r.Leaving {
			l := &r.Leaving[i]
			lines[i] = fmt.Sprintf("- %s: %s\n", markdown.Code(l.Name), l.Until.UTC().Format(time.RFC3339))
		}
		m.Lines(lines, markdown.MaxLength/8, left, "more node")
	}
	if len(r.Suspended) > 0 {
		fmt.Fprintf(&m.Builder, "\n**Suspended: %s**, with the files that they have:\n\n", phrase.Count(len(r.Suspended), "node"))
		lines := make([]string, len(r.Suspended))
		for i := range r.Suspended {
			s := &r.Suspended[i]
			lines[i] = fmt.Sprintf("- %s: %s\n", markdown.Code(s.Name), markdown.Text(s.Suspension.String()))
		}
		m.Lines(lines, markdown.MaxLength/8, left, "more node")
	}
	if len(r.Conflicts) > 0 {
		them := "them"
		if len(r.Conflicts) == 1 {
			them = "it"
		}
		fmt.Fprintf(&m.Builder, "\n**%s left because others changed %s** (`--force` overwrites):\n\n", phrase.Count(len(r.Conflicts), "file"), them)
		lines := make([]string, len(r.Conflicts))
		for i, c := range r.Conflicts {
			lines[i] = fmt.Sprintf("- %s: %s\n", markdown.Code(c.Path), c.Why)
		}
		m.Lines(lines, markdown.MaxLength/4, left, "more file")
	}
}

// refusals writes the title and the guards' objections.
func (m *comment) refusals(r *Report) {
	if len(r.Refusals) == 0 {
		fmt.Fprintf(&m.Builder, "### lynqctl render: %s\n\n", r.headline())
		return
	}
	fmt.Fprintf(&m.Builder, "### lynqctl render: refused: %s\n\n**Guards refuse this, and nothing is written:**\n\n", r.headline())
	lines := make([]string, len(r.Refusals))
	for i, one := range r.Refusals {
		lines[i] = "- " + markdown.Text(RefusalText(&one)) + "\n"
	}
	m.Lines(lines, markdown.MaxLength/4, left, "more refusal")
	m.WriteString("\n")
}

// headline summarizes the changes in a few words.
func (r *Report) headline() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what Change
	}{{r.Nodes.Added, Added}, {r.Nodes.Changed, Changed}, {r.Nodes.Removed, Removed}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", phrase.Count(p.n, "node"), p.what))
		}
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case r.OnlyIndex():
		return "only the index changes"
	case r.Changed:
		return fmt.Sprintf("no node changes, %s written", phrase.Count(r.Files.Written, "file"))
	}
	return "nothing changes"
}

// These limit what groups take of a comment, and the nodes that a group names.
const (
	maxGroups = markdown.MaxLength / 2
	maxNames  = 200
)

// groups writes findings, edited forms, and the groups of objects that change in the same way
// in many nodes.
func (m *comment) groups(r *Report) {
	set := r.Groups()
	for _, f := range set.Found() {
		fmt.Fprintf(&m.Builder, "\n- **%s**: %s", f.Level, markdown.Text(f.String()))
	}
	if len(set.Found()) > 0 {
		m.WriteString("\n")
	}
	m.WriteString(diff.FormsMarkdown(r.Forms))
	more := 0
	for i := range set.Groups {
		g := &set.Groups[i]
		if !g.Many() {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "\n**%d. %s**", i+1, markdown.Text(set.Title(g)))
		causes := set.CausesAt(g)
		if all := strings.Join(causes, "; "); all != "" {
			fmt.Fprintf(&b, ": %s", markdown.Text(all))
		}
		b.WriteString("\n\n")
		for k := range g.Fields {
			fmt.Fprintf(&b, "- %s", markdown.Code(g.Fields[k].String()))
			if len(causes) > 1 {
				fmt.Fprintf(&b, ": %s", markdown.Text(g.Fields[k].Cause))
			}
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "\n<details><summary>%s</summary>\n\n%s\n\n</details>\n", phrase.Count(g.Nodes, "node"), markdown.Text(set.Names(g.Members, maxNames)))
		if m.Len()+b.Len() > maxGroups {
			more++
			continue
		}
		m.WriteString(b.String())
	}
	if more > 0 {
		fmt.Fprintf(&m.Builder, "\n**%s**\n", phrase.Count(more, "more group"))
	}
}

// left counts the lines that didn't fit.
const left = "- ... and %s\n"

// section writes a folded list of the nodes with one kind of change, but for objects that
// stand in a group.
func (m *comment) section(title string, what Change, changes []NodeChange) {
	var lines []string
	for i := range changes {
		if text := nodeLines(&changes[i]); changes[i].Change == what && text != "" {
			lines = append(lines, text)
		}
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(&m.Builder, "\n<details><summary>%s: %s</summary>\n\n", title, phrase.Count(len(lines), "node"))
	const rest = len("\n</details>\n") * 4 // room for the end of this section and the summaries of later ones
	m.Lines(lines, markdown.MaxLength-rest-3*200, left, "more node")
	m.WriteString("\n</details>\n")
}

// nodeLines returns the lines of a node, "" if all of its objects stand in groups. For a
// created or removed node, the names of its objects are enough.
func nodeLines(n *NodeChange) string {
	var b strings.Builder
	for i := range n.Objects {
		o := &n.Objects[i]
		if o.group > 0 {
			continue
		}
		fmt.Fprintf(&b, "  - %s", markdown.Code(o.Object))
		if n.Change == Changed {
			fmt.Fprintf(&b, " %s", o.Change)
		}
		if o.Cause != "" {
			fmt.Fprintf(&b, ": %s", markdown.Text(o.String()))
		}
		for j := range o.Fields {
			f, sign := &o.Fields[j], ":"
			if j > 0 {
				sign = ";"
			}
			fmt.Fprintf(&b, "%s %s", sign, markdown.Code(f.Field))
			if f.Cause != "" {
				fmt.Fprintf(&b, ": %s", markdown.Text(f.String()))
			}
		}
		b.WriteByte('\n')
	}
	if b.Len() == 0 && len(n.Objects) > 0 {
		return ""
	}
	return fmt.Sprintf("- **%s** (hub %s, namespace %s)\n", markdown.Code(n.Name), markdown.Code(cmp.Or(n.hub, n.Hub.Name)), markdown.Code(n.Namespace)) + b.String()
}
