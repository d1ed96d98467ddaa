package ui_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/gitops"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func TestPrintLosses(t *testing.T) {
	losses := []policy.Loss{
		{Form: "a", Resource: "a", Policy: "timeoutSeconds", Instead: "later waves wait for it without a limit"},
		{Form: "a", Resource: "a", Policy: "conflictPolicy: Stuck", Instead: "Flux takes over objects of others"},
		{Form: "a", Resource: "b", Policy: "conflictPolicy: Stuck", Instead: "Flux takes over objects of others"},
		{Form: "a", Policy: "rollout.maxSkew", Instead: "all nodes change at once"},
	}
	var out bytes.Buffer
	if err := ui.PrintLosses(policy.Argo, losses, ui.StreamTo(&out, tty.Stream{})); err != nil {
		t.Fatal(err)
	}
	const want = `Argo CD does not honour all policies:
FORM   POLICY                  RESOURCES   WHAT HAPPENS INSTEAD
a      timeoutSeconds          a           later waves wait for it without a limit
a      conflictPolicy: Stuck   a, b        Flux takes over objects of others
a      rollout.maxSkew         all         all nodes change at once
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestPrintTree(t *testing.T) {
	r := &gitops.Report{
		Nodes:   gitops.NodeCounts{Counts: gitops.Counts{Added: 1, Changed: 1}, Failed: 1},
		Objects: gitops.Counts{Added: 2, Changed: 1},
		Files:   gitops.FileCounts{Written: 6, Removed: 2},
		Changes: []gitops.NodeChange{
			{NodeID: lynq.NodeID{Name: "acme-web"}, Change: gitops.Changed, Objects: []gitops.ObjectChange{{Change: gitops.Added}, {Change: gitops.Changed}}},
			{NodeID: lynq.NodeID{Name: "new-web"}, Change: gitops.Added, Objects: []gitops.ObjectChange{{Change: gitops.Added}}},
		},
		Conflicts: []gitops.Conflict{{Path: "a/b.yaml", Why: "it was edited"}},
	}
	tree := func(dryRun bool) string {
		var out bytes.Buffer
		if err := ui.PrintTree(r, ui.Expand{}, dryRun, ui.StreamTo(&out, tty.Stream{})); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	const want = `NODE       CHANGE    OBJECTS
acme-web   changed   1 added, 1 changed
new-web    added     1 added
conflict: a/b.yaml: it was edited
nodes: 1 added, 1 changed, 1 failed; objects: 2 added, 1 changed; files: 6 written, 2 removed
`
	if diff := cmp.Diff(want, tree(false)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(strings.NewReplacer("written", "to write", "2 removed", "2 to remove").Replace(want), tree(true)); diff != "" {
		t.Error(diff)
	}
	r.Changes = make([]gitops.NodeChange, 40)
	if got := tree(false); strings.Count(got, "\n") != 34 || !strings.Contains(got, "\n... and 10 more nodes\n") {
		t.Errorf("of 40 nodes: %s", got)
	}
}

// changedNode returns a node in which why changed one field.
func changedNode(name string, why gitops.Why) gitops.NodeChange {
	return gitops.NodeChange{
		NodeID: lynq.NodeID{Form: lynq.FormKey{Name: "web"}, Name: name}, Change: gitops.Changed,
		Objects: []gitops.ObjectChange{{Change: gitops.Changed, ID: "app", Fields: []gitops.FieldChange{{Field: "data.level", Why: why}}}},
	}
}

// printedTree returns the text about a dry run.
func printedTree(t *testing.T, r *gitops.Report, e ui.Expand) string {
	t.Helper()
	var out bytes.Buffer
	if err := ui.PrintTree(r, e, true, ui.StreamTo(&out, tty.Stream{})); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestPrintTreeGroups checks that equal changes of many nodes take a few lines, and that the
// other nodes have their causes. With --expand, each object of a group has its lines.
func TestPrintTreeGroups(t *testing.T) {
	byForm, byRow := gitops.Why{Cause: "form", Form: "web.yaml:12"}, gitops.Why{Cause: "row", Columns: []string{"plan"}}
	r := &gitops.Report{Nodes: gitops.NodeCounts{Counts: gitops.Counts{Changed: 10_001}}}
	for i := range 10_000 {
		r.Changes = append(r.Changes, changedNode(fmt.Sprintf("t%05d-web", i), byForm))
	}
	other := changedNode("z-web", byRow)
	other.Objects[0].Fields = append(other.Objects[0].Fields, gitops.FieldChange{Field: "data.other", Why: byForm})
	r.Changes = append(r.Changes, other)
	const found = "info  many-same: 10000 objects: most nodes change in the same way\n"
	const sum = "nodes: 10001 changed; objects: none; files: 0 to write, 0 to remove\n"
	want := found + `#1  changed  app of form web: 10000 nodes: form at web.yaml:12
  .data.level
  nodes: t00000-web, t00001-web, t00002-web and 9997 more
NODE    CHANGE    OBJECTS     CAUSE
z-web   changed   1 changed   row (column plan); form at web.yaml:12
` + sum
	if diff := cmp.Diff(want, printedTree(t, r, ui.Expand{})); diff != "" {
		t.Error(diff)
	}
	second := "z-web     changed\n  .data.level: row (column plan)\n  .data.other: form at web.yaml:12\n"
	if diff := cmp.Diff(found+second+sum, printedTree(t, r, ui.Expand{Group: 2})); diff != "" {
		t.Error(diff)
	}
	for _, e := range []ui.Expand{{Group: 1}, {All: true}} {
		got := printedTree(t, r, e)
		if n := strings.Count(got, "-web     changed: form at web.yaml:12\n  .data.level\n"); n != 10_000 || strings.Contains(got, second) != e.All || strings.Contains(got, "#1") {
			t.Errorf("%+v: %d objects of the first group:\n%.300s", e, n, got)
		}
	}
}

// TestPrintTreeExpandsNothing checks that a run without changes has its sum, whatever
// --expand asks for.
func TestPrintTreeExpandsNothing(t *testing.T) {
	if got := printedTree(t, &gitops.Report{}, ui.Expand{Group: 2}); got != "nodes: none; objects: none; files: 0 to write, 0 to remove\n" {
		t.Error(got)
	}
}

func TestPrintTreeRefusals(t *testing.T) {
	var out bytes.Buffer
	ui.PrintTreeRefusals(make([]plan.Refusal, 22), ui.StreamTo(&out, tty.Stream{}))
	if got := out.String(); strings.Count(got, "refused: ") != 20 || !strings.HasSuffix(got, "\n... and 2 more\n") {
		t.Errorf("%s", got)
	}
}
