package gitops

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/page"
)

// manyReport has a change of twelve nodes, and a node that loses a claim and a Namespace.
func manyReport() *Report {
	r := &Report{Nodes: NodeCounts{Counts: Counts{Changed: 12, Removed: 1}}, Objects: Counts{Changed: 12, Removed: 2}, Files: FileCounts{Written: 12, Removed: 3}}
	node := func(name string, change Change, objects ...ObjectChange) {
		for i := range objects {
			o := &objects[i]
			o.Change, o.Object = change, o.key.Full()
		}
		r.Changes = append(r.Changes, NodeChange{NodeID: lynq.NodeID{Name: name, Namespace: "shop", Form: lynq.FormKey{Name: "web"}}, Change: change, Objects: objects})
	}
	for i := range 12 {
		name := fmt.Sprintf("t%02d", i)
		node(name+"-web", Changed, ObjectChange{
			key:    index.ObjectKey{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name}},
			Fields: []FieldChange{{Field: "data.level", Why: Why{Cause: "form", Form: "web.yaml:9"}}, {Field: "data.mode", Why: Why{Cause: "row", Columns: []string{"mode"}}}},
		})
	}
	node("z-web", Removed,
		ObjectChange{key: index.ObjectKey{Ref: lynq.Ref{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "z"}}, stays: true},
		ObjectChange{key: index.ObjectKey{Ref: lynq.Ref{Kind: "Namespace", Name: "z"}}, Contents: "everything in it is deleted, too"})
	return r
}

// TestPage checks that a page shows groups, findings, and each object with its group, causes
// and fields, and what else the text shows.
func TestPage(t *testing.T) {
	r := manyReport()
	r.Refusals = []plan.Refusal{{Guard: plan.GuardMaxDelete, Hub: lynq.HubKey{Name: "crm"}, What: "1 of 2 nodes would be deleted", Fix: "check the rows"}}
	r.Conflicts = []Conflict{{Path: "a/b.yaml", Why: "others changed it"}}
	r.Nodes.Failed = 2
	r.Leaving = []Leaving{{NodeID: lynq.NodeID{Name: "gone-web"}, Until: time.Unix(0, 0)}}
	r.Suspended = []SuspendedNode{{NodeID: lynq.NodeID{Name: "held-web"}}}
	p := r.Page("render", true)
	facts := []string{"nodes: 12 changed, 1 removed, 2 failed", "objects: 12 changed, 2 removed", "files: 12 to write, 3 to remove", "Namespace/z is removed: everything in it is deleted, too"}
	if diff := cmp.Diff(facts, p.Facts); diff != "" {
		t.Error(diff)
	}
	const cause, fields = "form at web.yaml:9; row (column mode)", ".data.level: form at web.yaml:9; .data.mode: row (column mode)"
	groups := []page.Row{{Cells: []string{"#3", "changed ConfigMap of form web: 12 nodes", ".data.level; .data.mode", cause, "many-same"}}}
	if diff := cmp.Diff(groups, p.Tables[0].Rows); diff != "" {
		t.Error(diff)
	}
	var labels []string
	for _, n := range p.Notices {
		labels = append(labels, n.Label)
	}
	if got := strings.Join(labels, ", "); got != "refused (max-delete), danger, danger, info, conflict, failed, leaving, suspended" {
		t.Errorf("notices: %s", got)
	}
	ends := [][]page.Object{
		{{Name: "ConfigMap shop/t11", Action: "changed", Cause: cause, Note: fields, Group: "#3"}},
		{
			{Name: "PersistentVolumeClaim shop/z", Action: "removed", Note: "another node, or the tool that applies the tree, keeps it"},
			{Name: "Namespace z", Action: "removed", Note: "everything in it is deleted, too"},
		},
	}
	for i, want := range ends {
		if diff := cmp.Diff(want, p.Nodes[11+i].Objects); diff != "" {
			t.Error(diff)
		}
	}
}

// TestSummaryOfContents checks that a summary names a few of many objects that take others
// along.
func TestSummaryOfContents(t *testing.T) {
	r := &Report{}
	for i := range 200 {
		r.Changes = append(r.Changes, NodeChange{Objects: []ObjectChange{{Object: fmt.Sprintf("Namespace/t%d", i), Contents: "everything in it is deleted, too"}}})
	}
	if s := r.Summary(false); len(s) != 7 || s[5] != "Namespace/t2 is removed: everything in it is deleted, too" || s[6] != "197 more objects are removed with what they contain" {
		t.Errorf("%q", s)
	}
}
