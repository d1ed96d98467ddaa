package gitops

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// mostRows is how many nodes a table has.
const mostRows = 30

// WriteTable writes the report for people, short.
func (r *Report) WriteTable(w io.Writer, dryRun bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for i := range r.Changes {
		if i == 0 {
			_, _ = fmt.Fprintln(t, "NODE\tCHANGE\tOBJECTS")
		}
		n := &r.Changes[i]
		if i == mostRows {
			_, _ = fmt.Fprintf(t, "... and %s\n", lynq.Count(len(r.Changes)-i, "more node"))
			break
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\n", n.Node, n.Change, n.objects())
	}
	for _, c := range r.Conflicts {
		_, _ = fmt.Fprintf(t, "conflict: %s: %s\n", c.Path, c.Why)
	}
	_, _ = fmt.Fprintln(t, r.sum(dryRun))
	return t.Flush() // it has the errors of the others
}

// objects counts the objects of a node.
func (n *NodeChange) objects() string {
	var c Counts
	for i := range n.Objects {
		c.count(n.Objects[i].Change)
	}
	return c.String()
}

// String is "2 added, 1 removed".
func (c Counts) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{c.Added, "added"}, {c.Changed, "changed"}, {c.Removed, "removed"}, {c.Unchanged, "unchanged"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// sum is the last line: what became of nodes, objects and files.
func (r *Report) sum(dryRun bool) string {
	written, removed := "written", "removed"
	if dryRun {
		written, removed = "to write", "to remove"
	}
	nodes := r.Nodes.String()
	if r.Nodes.Failed > 0 {
		nodes += fmt.Sprintf(", %d failed", r.Nodes.Failed)
	}
	return fmt.Sprintf("nodes: %s; objects: %s; files: %d %s, %d %s", nodes, r.Objects, r.Files.Written, written, r.Files.Removed, removed)
}
