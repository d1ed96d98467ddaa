package gitops

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/diff"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/markdown"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// report plans a run, and returns its report.
func (s *site) report(in *Input) *Report {
	s.Helper()
	d, p := s.plan(in)
	return NewReport(in, p, d.Changes(p))
}

func withService(n *Node, text string) *Node {
	n.Objects = append(n.Objects, objectOf(lynq.Ref{Kind: "Service", Namespace: "default", Name: "door"}, text))
	return n
}

func TestReport(t *testing.T) {
	for _, a := range []Arrangement{{}, {PerNode: true}} {
		input := func(nodes ...*Node) *Input {
			in := inputOf(nodes, "crm")
			in.Arrangement = a
			return in
		}
		s := newSite(t)
		before := func() *Input {
			return input(withService(rowNode("crm", "acme", "1"), "1"), rowNode("crm", "beta", "1"), rowNode("crm", "gone", "1"), rowNode("crm", "same", "1"))
		}
		s.run(before())
		failed := rowNode("crm", "same", "")
		failed.Failed, failed.Objects = true, nil
		r := s.report(input(withService(rowNode("crm", "acme", "2"), "1"), withService(rowNode("crm", "beta", "1"), "1"), rowNode("crm", "new", "1"), failed))
		want := &Report{
			Changed: true,
			Nodes:   NodeCounts{Counts: Counts{Added: 1, Changed: 2, Removed: 1}, Failed: 1},
			Objects: Counts{Added: 2, Changed: 1, Removed: 1, Unchanged: 2},
			Changes: []NodeChange{
				{NodeID: lynq.NodeID{Name: "acme-web"}, Change: Changed, Objects: []ObjectChange{{Change: Changed, Object: "ConfigMap/default/acme", ID: "id"}}},
				{NodeID: lynq.NodeID{Name: "beta-web"}, Change: Changed, Objects: []ObjectChange{{Change: Added, Object: "Service/default/door", ID: "id"}}},
				{NodeID: lynq.NodeID{Name: "gone-web"}, Change: Removed, Objects: []ObjectChange{{Change: Removed, Object: "ConfigMap/default/gone", ID: "id"}}},
				{NodeID: lynq.NodeID{Name: "new-web"}, Change: Added, Objects: []ObjectChange{{Change: Added, Object: "ConfigMap/default/new", ID: "id"}}},
			},
		}
		for i := range want.Changes {
			id := &want.Changes[i].NodeID
			id.Hub.Name, id.Form.Name, id.Namespace = "crm", "web", "default"
		}
		if diff := cmp.Diff(want, r, cmpopts.IgnoreUnexported(ObjectChange{}, NodeChange{}, Report{}), cmpopts.IgnoreFields(Report{}, "Files", "Digests")); diff != "" {
			t.Errorf("%+v: %s", a, diff)
		}
		// Another arrangement moves files, but changes no object.
		moved := before()
		moved.Arrangement = Arrangement{PerNode: !a.PerNode, Spread: true}
		r = s.report(moved)
		if len(r.Changes) > 0 || !r.Changed || r.Nodes.Unchanged != 4 || r.Objects != (Counts{Unchanged: 5}) || r.Files.Written == 0 || r.Files.Removed == 0 {
			t.Errorf("%+v: %+v", a, r)
		}
		if r = s.report(before()); r.Changed || len(r.Changes) > 0 || r.Files.Written+r.Files.Removed > 0 {
			t.Errorf("%+v: %+v", a, r)
		}
		if of := s.index().Seal().Digests; !cmp.Equal(r.Digests, of) {
			t.Errorf("%+v: the report has %+v, and the index %+v", a, r.Digests, of)
		}
	}
}

// TestReportOfKeptClaims checks that a claim which the delivering tool keeps is no loss of
// data, and that any other one is.
func TestReportOfKeptClaims(t *testing.T) {
	claim := lynq.Ref{Kind: "PersistentVolumeClaim", Namespace: "default", Name: "data"}
	for _, tt := range []struct {
		name    string
		target  policy.Target
		options string
		want    int
	}{
		{"Argo CD keeps it", policy.Argo, "Prune=false", 0},
		{"Argo CD deletes it", policy.Argo, "Prune=true", 1},
		{"Flux doesn't read this annotation", policy.Flux, "Prune=false", 1},
		{"nobody knows the target", policy.Plain, "Prune=false", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			input := func(with bool) *Input {
				n := rowNode("crm", "acme", "1")
				if with {
					o := objectOf(claim, "1")
					o.Bytes = fmt.Appendf(nil, "apiVersion: v1\nkind: %s\nmetadata:\n  name: data\n  namespace: default\n  annotations:\n    argocd.argoproj.io/sync-options: %s\n", claim.Kind, tt.options)
					n.Objects = append(n.Objects, o)
				}
				in := inputOf([]*Node{n}, "crm")
				in.Target = tt.target
				return in
			}
			s.run(input(true))
			r := s.report(input(false))
			if losses := r.RefuseFindings([]changeset.Code{changeset.DataLoss}); r.Objects.Removed != 1 || len(losses) != tt.want {
				t.Errorf("%d objects leave, %+v", r.Objects.Removed, losses)
			}
		})
	}
}

// TestReportOfUnkeptObjects wants retain-ends for an object that the delivering tool kept in more
// cases before, and only for that.
func TestReportOfUnkeptObjects(t *testing.T) {
	const both = "Prune=false,Delete=false"
	for _, tt := range []struct {
		target        policy.Target
		before, after string
		want          int
	}{
		{policy.Argo, both, "ServerSideApply=true", 1},
		{policy.Argo, both, "", 1},
		{policy.Argo, both, "ServerSideApply=true," + both, 0},
		{policy.Argo, both, both, 0},
		{policy.Argo, "ServerSideApply=true", both, 0},
		{policy.Flux, "disabled", "", 1},
		{policy.Flux, "", "disabled", 0},
		{policy.Flux, both, "", 0},
	} {
		t.Run(string(tt.target), func(t *testing.T) {
			s := newSite(t)
			input := func(level, annotation string) *Input {
				n, o := rowNode("crm", "acme", "1"), objectOf(lynq.Ref{Kind: "PersistentVolumeClaim", Namespace: "default", Name: "data"}, "1")
				text := "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: data\n  namespace: default\n  annotations:\n    level: x" + level + "\n"
				switch {
				case annotation == "disabled":
					text += "    kustomize.toolkit.fluxcd.io/prune: disabled\n"
				case annotation != "":
					text += "    argocd.argoproj.io/sync-options: " + annotation + "\n"
				}
				o.Bytes = []byte(text)
				n.Objects = append(n.Objects, o)
				in := inputOf([]*Node{n}, "crm")
				in.Target = tt.target
				return in
			}
			s.run(input("1", tt.before))
			r := s.report(input("2", tt.after))
			if found := r.RefuseFindings([]changeset.Code{changeset.RetainEnds}); r.Objects.Changed != 1 || len(found) != tt.want {
				t.Errorf("%s, %q then %q: %d objects change, %+v", tt.target, tt.before, tt.after, r.Objects.Changed, found)
			}
		})
	}
}

// TestReportOfWeakerPolicies wants findings for objects that no longer hold data, also if no file
// changes, and for those that Flux no longer creates only once.
func TestReportOfWeakerPolicies(t *testing.T) {
	const once = "    kustomize.toolkit.fluxcd.io/ssa: IfNotPresent\n"
	for what, tt := range map[string]struct {
		target        policy.Target
		kind          string
		before, after string // lines of the manifest
		held, holds   bool
		changed       int
		want          []changeset.Code
	}{
		"holdsData ends":             {policy.Argo, "ConfigMap", "", "", true, false, 1, []changeset.Code{changeset.HoldsDataEnds}},
		"holdsData ends and more":    {policy.Argo, "ConfigMap", "", "    a: b\n", true, false, 1, []changeset.Code{changeset.HoldsDataEnds}},
		"holdsData ends for a claim": {policy.Argo, "PersistentVolumeClaim", "", "", true, false, 0, nil},
		"holdsData begins":           {policy.Argo, "ConfigMap", "", "", false, true, 0, nil},
		"holdsData stays":            {policy.Argo, "ConfigMap", "", "    a: b\n", true, true, 1, nil},
		"Once ends":                  {policy.Flux, "ConfigMap", once, "", false, false, 1, []changeset.Code{changeset.OnceEnds}},
		"Once begins":                {policy.Flux, "ConfigMap", "", once, false, false, 1, nil},
		"Once stays":                 {policy.Flux, "ConfigMap", once, once + "    a: b\n", false, false, 1, nil},
		"Once of Flux under Argo CD": {policy.Argo, "ConfigMap", once, "", false, false, 1, nil},
	} {
		t.Run(what, func(t *testing.T) {
			s := newSite(t)
			input := func(lines string, data bool) *Input {
				n, o := rowNode("crm", "acme", "1"), objectOf(lynq.Ref{Kind: tt.kind, Namespace: "default", Name: "data"}, "1")
				o.Bytes, o.Data = fmt.Appendf(nil, "apiVersion: v1\nkind: %s\nmetadata:\n  name: data\n  namespace: default\n  annotations:\n    level: x\n%s", tt.kind, lines), data
				n.Objects = append(n.Objects, o)
				in := inputOf([]*Node{n}, "crm")
				in.Target = tt.target
				return in
			}
			s.run(input(tt.before, tt.held))
			r := s.report(input(tt.after, tt.holds))
			r.Explain(func(lynq.HubKey, lynq.FormKey) *render.Program { return nil }, nil)
			var found []changeset.Code
			for _, f := range r.Groups().Found() {
				found = append(found, f.Code)
			}
			if r.Objects.Changed != tt.changed || r.Objects.Unchanged != 2-tt.changed || !slices.Equal(found, tt.want) {
				t.Errorf("objects: %s, findings %v", r.Objects, found)
			}
			if policyOnly := r.Changed && tt.before == tt.after && tt.changed > 0; policyOnly && r.Changes[0].Objects[0].String() != "policy" {
				t.Errorf("cause %q", r.Changes[0].Objects[0].String())
			}
		})
	}
}

// TestReportOfMovedClaims checks that a claim which another node takes is no loss of data.
func TestReportOfMovedClaims(t *testing.T) {
	s := newSite(t)
	input := func(owner int) *Input {
		nodes := []*Node{rowNode("crm", "acme", "1"), rowNode("crm", "beta", "1")}
		if owner < len(nodes) {
			nodes[owner].Objects = append(nodes[owner].Objects, objectOf(lynq.Ref{Kind: "PersistentVolumeClaim", Namespace: "default", Name: "data"}, "1"))
		}
		return inputOf(nodes, "crm")
	}
	s.run(input(0))
	for owner, want := range map[int]int{1: 0, 2: 1} {
		r := s.report(input(owner))
		if losses := r.RefuseFindings([]changeset.Code{changeset.DataLoss}); r.Objects.Removed != 1 || len(losses) != want {
			t.Errorf("node %d has it now: %d objects leave, %+v", owner, r.Objects.Removed, losses)
		}
	}
}

// TestReportConflicts checks that a kept file counts as no change.
func TestReportConflicts(t *testing.T) {
	s := newSite(t)
	s.run(inputOf([]*Node{rowNode("crm", "acme", "1"), rowNode("crm", "gone", "1"), rowNode("crm", "lost", "1")}))
	s.write("acme-web/configmap-acme.yaml", "mine")
	s.write("gone-web/configmap-gone.yaml", "mine")
	s.run(inputOf([]*Node{rowNode("crm", "acme", "2"), rowNode("crm", "lost", "1")}))
	r := s.report(inputOf([]*Node{rowNode("crm", "acme", "2"), rowNode("crm", "lost", "1")}))
	if r.Changed || len(r.Changes) > 0 || len(r.Conflicts) != 2 || r.Nodes.Unchanged != 2 {
		t.Errorf("%+v", r)
	}
}

// TestFieldsByShape compares the changed fields of documents that have the same shapes again and
// again with those of documents that are parsed each time.
func TestFieldsByShape(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	values := []string{"a", "b", `"a"`, "'b'", "1", "1.0", "true", "{}", "{a: 1}", "{a: 2}", "[1]", "[1, 2]", "|\n    text: one\n    two", "|\n    text: two\n    two", "a # b", `"a: b"`, "null", "~", "*x", "&x a"}
	pick := func() string { return values[random.IntN(len(values))] }
	document := func(a, b, c string) []byte {
		return []byte("data:\n  one: " + a + "\n  list:\n  - name: " + b + "\n    more: x\n  - " + c + "\nlast: y\n")
	}
	known, shared := newFieldsByShape(), 0
	for range 20000 {
		a, b, c := pick(), pick(), pick()
		before := document(a, b, c)
		for _, v := range []*string{&a, &b, &c} {
			if random.IntN(2) == 0 {
				*v = pick()
			}
		}
		after := document(a, b, c)
		if known.shape("id", before, after) && known.fields[string(known.last)] != nil {
			shared++
		}
		causeOf := func([]segment, bool) Why { return Why{} }
		want, got := changedFields(before, after, causeOf), known.of("id", before, after, causeOf)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\n%s\n%s", before, after, diff)
		}
	}
	if shared < 500 {
		t.Errorf("only %d documents had a known shape", shared)
	}
}

// TestKnownShapesTakeNoMemory wants a change like an earlier one to allocate only its pair of
// values, because a changed form changes ten thousand objects in the same way.
func TestKnownShapesTakeNoMemory(t *testing.T) {
	known, lines := newFieldsByShape(), strings.Repeat("  - name: x\n    value: a value of some length\n", 50)
	before, after := []byte("data:\n"+lines+"last: one of two values\n"), []byte("data:\n"+lines+"last: the other of two values\n")
	compare := func() {
		if fields := known.of("id", before, after, func([]segment, bool) Why { return Why{} }); len(fields) != 1 || policy.DeletionLines(before) != "" {
			t.Fatalf("%+v", fields)
		}
	}
	compare()
	if got := testing.AllocsPerRun(100, compare); got > 2 {
		t.Errorf("%v allocations", got)
	}
}

// TestNodeChangeJSON checks names and order of a report's fields.
func TestNodeChangeJSON(t *testing.T) {
	n := NodeChange{NodeID: lynq.NodeID{
		Hub: lynq.HubKey{Namespace: "h", Name: "crm"}, Form: lynq.FormKey{Namespace: "f", Name: "web"}, Namespace: "blue", Name: "acme-web",
	}, Change: Added, Objects: []ObjectChange{{Change: Added, Object: "a<b", ID: "id"}}}
	const objects = `"objects":[{"change":"added","object":"a\u003cb","id":"id"}]}]`
	for want, n := range map[string]NodeChange{
		`[{"change":"added","hub":"crm","form":"web","hubNamespace":"h","formNamespace":"f","namespace":"blue","node":"acme-web",` + objects: n,
		`[{"change":"","hub":"","form":"","namespace":"","node":"","objects":null}]`:                                                         {},
	} {
		t.Run(want, func(t *testing.T) {
			if b, err := json.Marshal([]NodeChange{n}); err != nil || string(b) != want {
				t.Errorf("%s, want %s (%v)", b, want, err)
			}
		})
	}
}

// blue returns a node of hub crm in namespace blue.
func blue(name string) lynq.NodeID {
	return lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: "blue", Name: name}
}

// TestMarkdown checks the comment for a pull request.
func TestMarkdown(t *testing.T) {
	r := &Report{
		Changed: true,
		Nodes:   NodeCounts{Counts: Counts{Added: 1, Changed: 1, Removed: 1, Unchanged: 7}, Failed: 2},
		Objects: Counts{Added: 1, Changed: 2, Removed: 1, Unchanged: 20},
		Changes: []NodeChange{
			{NodeID: blue("acme-web"), Change: Changed, Objects: []ObjectChange{
				{Change: Changed, Object: "Deployment.apps/blue/acme", Fields: []FieldChange{
					{Field: "spec.replicas", Why: Why{Cause: diff.CauseRow, Columns: []string{"replicas"}}},
					{Field: "metadata.labels[\"a`b\"]", Why: Why{Cause: "form or row", Columns: []string{"a", "b"}, Form: "web.yaml:12"}},
				}},
				{Change: Changed, Object: "Secret/blue/key", Why: Why{Cause: diff.CauseUnknown}},
				{Change: Added, Object: "Service/blue/acme"},
			}},
			{NodeID: blue("gone-web"), Change: Removed, Objects: []ObjectChange{{Change: Removed, Object: "ConfigMap/blue/gone"}}},
			{NodeID: blue("new-web"), Change: Added, Objects: []ObjectChange{{Change: Added, Object: "ConfigMap/blue/new"}}},
		},
		Conflicts: []Conflict{{"x-web/a.yaml", "it was changed since lynqctl wrote it"}},
	}
	var b strings.Builder
	if err := r.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(`### lynqctl render: 1 node added, 1 node changed, 1 node removed

| | added | changed | removed | unchanged |
|---|--:|--:|--:|--:|
| nodes | 1 | 1 | 1 | 7 |
| objects | 1 | 2 | 1 | 20 |

**2 nodes failed to render**, and keep the files that they have.

**1 file left because others changed it** ('--force' overwrites):

- 'x-web/a.yaml': it was changed since lynqctl wrote it

<details><summary>Removed: 1 node</summary>

- **'gone-web'** (hub 'crm', namespace 'blue')
  - 'ConfigMap/blue/gone'

</details>

<details><summary>Changed: 1 node</summary>

- **'acme-web'** (hub 'crm', namespace 'blue')
  - 'Deployment.apps/blue/acme' changed: 'spec.replicas': row (column replicas); '' metadata.labels["a'b"] '': form at web.yaml:12 or row (columns a, b)
  - 'Secret/blue/key' changed: unknown
  - 'Service/blue/acme' added

</details>

<details><summary>Added: 1 node</summary>

- **'new-web'** (hub 'crm', namespace 'blue')
  - 'ConfigMap/blue/new'

</details>
`, "'", "`")
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// TestMarkdownFits checks that a comment fits the limit, and that each section has its
// place.
func TestMarkdownFits(t *testing.T) {
	r := &Report{Changed: true}
	for i := range 30_000 {
		what := []Change{Removed, Changed, Added}[i%3]
		r.Nodes.count(what)
		node := blue(fmt.Sprintf("tenant-%d-web", i))
		node.Form.Name = fmt.Sprint("form", i) // no other node changes in the same way
		r.Changes = append(r.Changes, NodeChange{NodeID: node, Change: what, Objects: []ObjectChange{{Change: what, Object: "ConfigMap/a/b"}}})
		r.Conflicts = append(r.Conflicts, Conflict{fmt.Sprintf("tenant-%d-web/a.yaml", i), "it was changed since lynqctl wrote it"})
	}
	var b strings.Builder
	if err := r.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	if b.Len() > markdown.MaxLength || b.Len() < markdown.MaxLength*3/4 {
		t.Errorf("%d characters", b.Len())
	}
	for _, want := range []string{"Removed: 10000 nodes", "Changed: 10000 nodes", "Added: 10000 nodes", "more nodes\n", "more files\n"} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(b.String(), want) {
				t.Errorf("it has no %q", want)
			}
		})
	}
	if open, closed := strings.Count(b.String(), "<details>"), strings.Count(b.String(), "</details>"); open != 3 || closed != 3 {
		t.Errorf("%d details begin, %d end", open, closed)
	}
}

// TestMarkdownGroups checks that a comment says once what happens to many nodes.
func TestMarkdownGroups(t *testing.T) {
	r := &Report{Changed: true}
	for i := range 1000 {
		r.Nodes.count(Changed)
		n := NodeChange{NodeID: blue(fmt.Sprintf("t%03d-web", i)), Change: Changed}
		n.Form.Name = "web"
		o := ObjectChange{Change: Changed, ID: "app", Fields: []FieldChange{
			{Field: "spec.template.image", Why: Why{Cause: diff.CauseForm, Form: "web.yaml:12"}}, {Field: "spec.x", Why: Why{Cause: diff.CauseRow, Columns: []string{"x"}}},
		}}
		o.key.Ref = lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "blue", Name: n.Name}
		n.Objects = []ObjectChange{o}
		if i == 500 {
			o.key.Kind, o.Fields, o.ID, o.Object = "Service", []FieldChange{{Field: "spec.x", Why: Why{Cause: diff.CauseRow, Columns: []string{"plan"}}}}, "door", "Service/blue/door"
			n.Objects = append(n.Objects, o)
		}
		r.Changes = append(r.Changes, n)
	}
	var b strings.Builder
	if err := r.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"- **warning**: pods-restart: 1000 objects: pods restart\n- **info**: many-same: 1000 objects: most nodes change in the same way\n",
		"\n**1. changed Deployment app of form web: 1000 nodes**: form at web.yaml:12; row (column x)\n\n- `.spec.template.image`: form\n- `.spec.x`: row (column x)\n", "t000-web, t001-web,", "t199-web and 800 more\n",
		"<summary>Changed: 1 node</summary>\n\n- **`t500-web`** (hub `crm`, namespace `blue`)\n  - `Service/blue/door` changed: `spec.x`: row (column plan)\n",
	} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(b.String(), want) {
				t.Errorf("it has no %q", want)
			}
		})
	}
	if lines := strings.Count(b.String(), "\n"); lines > 40 {
		t.Errorf("%d lines: %s", lines, b.String())
	}
}
