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
func PrintTree(r *gitops.Report, e Expand, dryRun bool, out tty.Stream) error {
	var b strings.Builder
	set := r.Groups()
	b.WriteString(out.Fitted(findingsText(set.Set, out.Paint())))
	if e == (Expand{}) || len(set.Groups) == 0 {
		b.WriteString(treeChanges(r, set, out))
	} else {
		b.WriteString(out.Fitted(treeMembers(set, e, out.Paint())))
	}
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
	return out.WriteText("report", tty.Table, b.String()+out.Fitted(tty.Safe(strings.Join(r.Summary(dryRun), "; ")))+"\n", nil)
}

// treeMembers returns each object of a group, or of all groups, with its cause and fields.
func treeMembers(set *gitops.Groups, e Expand, p tty.Paint) string {
	var members []int
	for i := range set.Objects {
		members = append(members, i)
	}
	if !e.All {
		members = set.Groups[e.Group-1].Members
	}
	var b strings.Builder
	for _, m := range members {
		c, o := &set.Changes[m], set.Objects[m]
		b.WriteString(changeHead(c.Node.Name, c.Ref, p.Tone(treeTone(o.Change), string(o.Change)), o.Causes(), p))
		for _, detail := range o.Details() {
			b.WriteString("  " + tty.Safe(detail) + "\n")
		}
	}
	return b.String()
}

// treeTone says how good or bad a change of a tree is.
func treeTone(c gitops.Change) tty.Tone {
	switch c {
	case gitops.Added:
		return tty.Good
	case gitops.Removed:
		return tty.Bad
	}
	return tty.Worry
}

// treeChanges returns the groups of changes, and a table of the other nodes.
func treeChanges(r *gitops.Report, set *gitops.Groups, out tty.Stream) string {
	var b strings.Builder
	groups := 0
	for i := range set.Groups {
		if !set.Groups[i].Many() {
			continue
		}
		if groups++; groups <= treeGroupsNamed {
			b.WriteString(groupText(set.Set, i, "", out))
		}
	}
	if more := groups - treeGroupsNamed; more > 0 {
		b.WriteString("... and " + phrase.Count(more, "more group") + "\n")
	}
	l := list.List{Columns: []list.Column{{Name: "NODE", Flexible: true}, {Name: "CHANGE"}, {Name: "OBJECTS", Wrapped: true}, {Name: "CAUSE", Wrapped: true}}}
	nodes, caused := 0, false
	for i := range r.Changes {
		n := r.Changes[i].Alone()
		if len(n.Objects) == 0 && len(r.Changes[i].Objects) > 0 {
			continue
		}
		if nodes++; nodes > treeNodesNamed {
			continue
		}
		causes := n.Causes()
		caused = caused || len(causes) > 0
		l.Items = append(l.Items, list.Item{Cells: []string{n.Name, string(n.Change), n.Counts().String(), strings.Join(causes, "; ")}})
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
