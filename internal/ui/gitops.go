package ui

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/gitops"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Limits of the groups, nodes and refusals that the text about a tree names.
const (
	treeGroupsNamed   = 10
	treeNodesNamed    = 30
	treeRefusalsNamed = 20
)

// PrintLosses prints the policies that a target ignores, and what happens instead. It joins
// resources of a form with the same loss in one row.
func PrintLosses(target policy.Target, losses []policy.Loss, out tty.Stream) error {
	l := list.List{Columns: []list.Column{{Name: "FORM"}, {Name: "POLICY"}, {Name: "RESOURCES", Flexible: true}, {Name: "WHAT HAPPENS INSTEAD", Wrapped: true}}}
	for _, row := range lossesTogether(losses) {
		l.Items = append(l.Items, list.Item{Cells: []string{row.Form, row.Policy, row.Resource, row.Instead}})
	}
	return out.WriteText("losses", tty.Table, tty.Safe(target.Title())+" does not honour all policies:\n"+l.Table(false, out), nil)
}

// lossesTogether joins losses that differ only in their resource, and names the resources.
func lossesTogether(losses []policy.Loss) []policy.Loss {
	var rows []policy.Loss
	at := map[policy.Loss]int{}
	for _, l := range losses {
		key := policy.Loss{Form: l.Form, Policy: l.Policy, Instead: l.Instead}
		i, known := at[key]
		switch {
		case !known:
			at[key] = len(rows)
			l.Resource = cmp.Or(l.Resource, "all")
			rows = append(rows, l)
		case l.Resource != "":
			rows[i].Resource += ", " + l.Resource
		}
	}
	return rows
}

// PrintTree prints a short text about what a run changed in a tree of files, or would
// change.
func PrintTree(r *gitops.Report, dryRun bool, out tty.Stream) error {
	var b strings.Builder
	b.WriteString(treeChanges(r, out))
	leaving := r.Leaving[:min(len(r.Leaving), treeNodesNamed)]
	for i := range leaving {
		b.WriteString(out.Fitted(tty.Safe(leaving[i].String())) + "\n")
	}
	if more := len(r.Leaving) - len(leaving); more > 0 {
		b.WriteString("... and " + phrase.Count(more, "more leaving node") + "\n")
	}
	if len(r.Suspended) > 0 {
		b.WriteString(out.Fitted(tty.Safe(suspendedLine(r.Suspended))) + "\n")
	}
	for _, c := range r.Conflicts {
		b.WriteString(out.Fitted(tty.Safe("conflict: "+c.Path+": "+c.Why)) + "\n")
	}
	return out.WriteText("report", tty.Table, b.String()+out.Fitted(treeLine(r, dryRun))+"\n", nil)
}

// treeChanges returns the findings and groups of changes, and a table of the other nodes.
func treeChanges(r *gitops.Report, out tty.Stream) string {
	set, grouped := r.Groups()
	var b strings.Builder
	b.WriteString(out.Fitted(findingsText(set, out.Paint())))
	groups := 0
	for i := range set.Groups {
		if !set.Groups[i].Many() {
			continue
		}
		if groups++; groups <= treeGroupsNamed {
			b.WriteString(groupText(set, i, "", out))
		}
	}
	if more := groups - treeGroupsNamed; more > 0 {
		b.WriteString("... and " + phrase.Count(more, "more group") + "\n")
	}
	l := list.List{Columns: []list.Column{{Name: "NODE", Flexible: true}, {Name: "CHANGE"}, {Name: "OBJECTS", Wrapped: true}, {Name: "CAUSE", Wrapped: true}}}
	nodes, caused := 0, false
	for i := range r.Changes {
		n := r.Changes[i].Alone(grouped)
		if len(n.Objects) == 0 && len(r.Changes[i].Objects) > 0 {
			continue
		}
		if nodes++; nodes > treeNodesNamed {
			continue
		}
		causes := n.Causes()
		caused = caused || len(causes) > 0
		l.Items = append(l.Items, list.Item{Cells: []string{n.Name, string(n.Change), treeCounts(n.Counts()), strings.Join(causes, "; ")}})
	}
	if !caused {
		l.Columns = l.Columns[:len(l.Columns)-1]
		for i := range l.Items {
			l.Items[i].Cells = l.Items[i].Cells[:len(l.Columns)]
		}
	}
	if nodes > 0 {
		b.WriteString(l.Table(false, out))
	}
	if more := nodes - len(l.Items); more > 0 {
		b.WriteString("... and " + phrase.Count(more, "more node") + "\n")
	}
	return b.String()
}

// suspendedLine names some suspended nodes.
func suspendedLine(nodes []gitops.SuspendedNode) string {
	names := make([]string, len(nodes))
	for i := range nodes {
		names[i] = nodes[i].String()
	}
	return phrase.Count(len(nodes), "node") + " suspended: " + phrase.Some(names)
}

// PrintTreeRefusals prints why guards refuse a run on a tree of files.
func PrintTreeRefusals(refusals []plan.Refusal, out tty.Stream) {
	shown := refusals[:min(len(refusals), treeRefusalsNamed)]
	for i := range shown {
		_, _ = fmt.Fprintln(out, "refused: "+tty.Safe(gitops.RefusalText(&shown[i]))) // the exit code shows the refusal in any case
	}
	if more := len(refusals) - len(shown); more > 0 {
		_, _ = fmt.Fprintf(out, "... and %d more\n", more)
	}
}

// treeCounts returns "2 added, 1 removed".
func treeCounts(c gitops.Counts) string {
	return cmp.Or(Commas(Some(c.Added, "added"), Some(c.Changed, "changed"), Some(c.Removed, "removed"), Some(c.Unchanged, "unchanged")), "none")
}

// treeLine counts the changed nodes, objects and files.
func treeLine(r *gitops.Report, dryRun bool) string {
	written, removed := "written", "removed"
	if dryRun {
		written, removed = "to write", "to remove"
	}
	index := ""
	if r.OnlyIndex() {
		index = "; only the index changes"
	}
	var along strings.Builder
	for _, c := range r.Changes {
		for _, o := range c.Objects {
			if o.Contents != "" {
				along.WriteString("; " + o.Object + " is removed: " + o.Contents)
			}
		}
	}
	return fmt.Sprintf("nodes: %s; objects: %s; files: %d %s, %d %s%s",
		Commas(treeCounts(r.Nodes.Counts), Some(r.Nodes.Failed, "failed"), Some(r.Nodes.Waiting, "waiting for their stage")), treeCounts(r.Objects), r.Files.Written, written, r.Files.Removed, removed, index+along.String())
}
