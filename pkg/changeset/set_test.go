package changeset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// change returns an update of one field of a tenant's ConfigMap.
func change(tenant string, f Field) Change {
	return Change{
		Node: &lynq.NodeID{Namespace: tenant, Name: tenant + "-web"}, Ref: lynq.Ref{Kind: "ConfigMap", Namespace: tenant, Name: tenant},
		ID: "settings", Action: "update", Words: "update", Fields: []Field{f},
	}
}

func many(n int, f func(i int) Field) []Change {
	var changes []Change
	for i := range n {
		changes = append(changes, change(fmt.Sprintf("t%04d", i), f(i)))
	}
	return changes
}

func motd(before, after string) Field {
	return Field{Path: ".data.motd", Op: "replace", Before: before, After: after, Cause: "form"}
}

func TestOfGroupsOneEditOfAllTenants(t *testing.T) {
	s := Of(many(10_000, func(i int) Field {
		if i%4000 == 7 {
			return motd("mine", "hi")
		}
		return motd("hello", "hi")
	}), 10_000)
	if len(s.Groups) != 1 {
		t.Fatalf("%d groups", len(s.Groups))
	}
	g := &s.Groups[0]
	equal(t, s.Title(g), "update ConfigMap settings: 10000 nodes")
	equal(t, g.Fields[0].String(), `.data.motd: "hello" → "hi"`)
	equal(t, fmt.Sprint(s.Deviations(g)), `[3 differ: t0007-web, t4007-web, t8007-web: .data.motd: "mine" → "hi"]`)
	equal(t, s.NodeNames(g), "t0000-web, t0001-web, t0002-web and 9997 more")
	equal(t, fmt.Sprint(g.Findings), "[many-same]")
	equal(t, s.Sample(g).Node.Name, "t0000-web")
}

func TestOfNamesColumnsForValuesThatVary(t *testing.T) {
	s := Of(many(40, func(i int) Field {
		return Field{Path: ".data.plan", Op: "replace", Before: "gold", After: fmt.Sprint("plan", i%7), Columns: []string{"plan"}, Cause: "row (column plan)"}
	}), 400)
	equal(t, s.Groups[0].Fields[0].String(), `.data.plan: "gold" → ‹plan›`)
	equal(t, fmt.Sprint(s.Groups[0].Outliers, s.Groups[0].Findings), "[] []")

	s = Of(many(40, func(i int) Field { return motd("hello", fmt.Sprint(i%7)) }), 400)
	equal(t, s.Groups[0].Fields[0].String(), `.data.motd: "hello" → ‹differs›`)
}

func TestOfSortsDangerFirst(t *testing.T) {
	changes := many(30, func(int) Field { return motd("a", "b") })
	restart := change("x", Field{Path: ".spec.template.spec.x", Op: "add", After: "b", Cause: "form"})
	restart.Kind, restart.Findings = "Deployment", []Code{PodsRestart}
	gone := change("y", Field{})
	gone.Action, gone.Words, gone.Fields, gone.Cause = "delete", "delete", nil, "row gone"
	claim := gone
	claim.Kind, claim.Findings = "PersistentVolumeClaim", []Code{DataLoss}
	s := Of(append(changes, restart, gone, claim), 32)
	var kinds []string
	for i := range s.Groups {
		c := s.Sample(&s.Groups[i])
		kinds = append(kinds, c.Words+" "+c.Kind)
	}
	equal(t, fmt.Sprint(kinds), "[delete PersistentVolumeClaim update Deployment delete ConfigMap update ConfigMap]")
	var found []string
	for _, f := range s.Found() {
		found = append(found, f.String())
	}
	equal(t, fmt.Sprint(found), "[data-loss: 1 object: the object's data is deleted with it pods-restart: 1 object: pods restart many-same: 30 objects: most nodes change in the same way]")
}

// Groups partition any changes: none is lost, none counts twice, and all members of a group
// have one shape.
func TestOfPartitions(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		changes := many(r.IntN(60), func(int) Field {
			return Field{Path: fmt.Sprint(".f", r.IntN(3)), Op: "replace", Before: r.IntN(3), After: r.IntN(3), Cause: fmt.Sprint("c", r.IntN(2))}
		})
		s := Of(slices.Clone(changes), len(changes))
		var seen []int
		for i := range s.Groups {
			g := &s.Groups[i]
			if !slices.IsSorted(g.Members) {
				t.Fatalf("seed %d: members aren't in order: %v", seed, g.Members)
			}
			for _, m := range g.Members {
				if s.Changes[m].Shape() != s.Changes[g.Members[0]].Shape() {
					t.Fatalf("seed %d: two shapes in one group", seed)
				}
			}
			for _, o := range g.Outliers {
				if !slices.Contains(g.Members, o) {
					t.Fatalf("seed %d: an outlier is no member", seed)
				}
			}
			seen = append(seen, g.Members...)
		}
		slices.Sort(seen)
		for i, at := range seen {
			if i != at || len(seen) != len(changes) {
				t.Fatalf("seed %d: groups have %v of %d changes", seed, seen, len(changes))
			}
		}
	}
}

func TestFind(t *testing.T) {
	rbac := lynq.Ref{Group: "rbac.authorization.k8s.io", Kind: "Role"}
	pod := func(image string) map[string]any {
		return map[string]any{"containers": []any{map[string]any{"name": "app", "image": image}}}
	}
	for _, c := range []struct {
		name    string
		change  Change
		effects Effects
		next    map[string]any
		want    []Code
	}{
		{"nothing", Change{Fields: []Field{motd("a", "b")}}, Effects{}, map[string]any{}, nil},
		{"a namespace", Change{Action: "delete"}, Effects{Contents: true, Data: true}, nil, []Code{NamespaceContents, DataLoss}},
		{"retain ends", Change{Action: "update"}, Effects{Unkept: true}, map[string]any{}, []Code{RetainEnds}},
		{"policies end", Change{Action: "update"}, Effects{Unheld: true, Rewritten: true, Forced: true}, map[string]any{}, []Code{HoldsDataEnds, OnceEnds, ForceBegins}},
		{"recreate", Change{Fields: []Field{{Path: ".spec.clusterIP"}}}, Effects{Recreates: true}, map[string]any{}, []Code{ImmutableField}},
		{"a new role", Change{Ref: rbac, Action: "create"}, Effects{}, map[string]any{}, []Code{RightsGrow}},
		{"a role that goes", Change{Ref: rbac, Action: "delete"}, Effects{}, nil, nil},
		{"a new rule", Change{Ref: rbac, Action: "update", Fields: []Field{{Path: ".rules[0].verbs", Op: "replace", Before: []any{"get"}, After: []any{"get", "list"}}}}, Effects{}, map[string]any{}, []Code{RightsGrow}},
		{"a rule that goes", Change{Ref: rbac, Action: "update", Fields: []Field{{Path: ".rules[0].verbs", Op: "replace", Before: []any{"get", "list"}, After: []any{"get"}}}}, Effects{}, map[string]any{}, nil},
		{"a label of a role", Change{Ref: rbac, Action: "update", Fields: []Field{{Path: ".metadata.labels.x", Op: "add", After: "y"}}}, Effects{}, map[string]any{}, nil},
		{"a claim that shrinks", Change{Fields: []Field{{Path: ".spec.resources.requests.storage", Before: "10Gi", After: "9.5Gi"}}}, Effects{}, map[string]any{}, []Code{ClaimShrinks}},
		{"a claim that grows", Change{Fields: []Field{{Path: ".spec.resources.requests.storage", Before: "900Mi", After: "1Gi"}}}, Effects{}, map[string]any{}, nil},
		{"pods", Change{Ref: lynq.Ref{Kind: "Deployment"}, Fields: []Field{{Path: ".spec.template.metadata.labels.x"}}}, Effects{}, map[string]any{}, []Code{PodsRestart}},
		{"no pods", Change{Ref: lynq.Ref{Kind: "Deployment"}, Fields: []Field{{Path: ".spec.templates"}, {Path: ".spec.replicas"}}}, Effects{}, map[string]any{}, nil},
		{"a selector", Change{Ref: lynq.Ref{Kind: "Service"}, Fields: []Field{{Path: ".spec.selector.app"}}}, Effects{}, map[string]any{}, []Code{SelectorChanges}},
		{"latest", Change{Ref: lynq.Ref{Kind: "Deployment"}, Fields: []Field{{Path: `.spec.template.spec.containers[name="app"].image`, After: "a/b:latest"}}}, Effects{}, map[string]any{}, []Code{PodsRestart, ImageUnpinned}},
		{"a tag", Change{Fields: []Field{{Path: ".spec.image", After: "host:5000/b:v1"}}}, Effects{}, map[string]any{}, nil},
		{"a port is no tag", Change{Fields: []Field{{Path: ".spec.image", After: "host:5000/b"}}}, Effects{}, map[string]any{}, []Code{ImageUnpinned}},
		{"a digest", Change{Action: "create"}, Effects{}, pod("a@sha256:0"), nil},
		{"a new pod", Change{Action: "create"}, Effects{}, pod("a"), []Code{ImageUnpinned}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Find(&c.change, c.effects, c.next); !slices.Equal(got, c.want) {
				t.Errorf("found %v, want %v", got, c.want)
			}
		})
	}
}

func equal(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestAtPlaces names each cause once, with the places in forms of its fields.
func TestAtPlaces(t *testing.T) {
	fields := [][2]string{
		{"form", "web.yaml:9"}, {"row (column plan)", ""}, {"form", "web.yaml:9"}, {"form or row (column plan)", "web.yaml:12"},
		{"form", "web.yaml:10"}, {"form", "web.yaml:11"}, {"form", "web.yaml:12"}, {"form", "web.yaml:13"},
	}
	got := AtPlaces(len(fields), "", func(i int) (string, string) { return fields[i][0], fields[i][1] })
	equal(t, fmt.Sprintf("%q", got), `["form at web.yaml:9, web.yaml:10, web.yaml:11 and 2 more" "row (column plan)" "form at web.yaml:12 or row (column plan)"]`)
}

// TestEdits names the commits of a group only if it knows them of all members, and says if
// some members have only the newer part.
func TestEdits(t *testing.T) {
	one := &Edit{Commits: []Commit{{"c2", "Second"}}}
	two := &Edit{Uncommitted: true, Commits: []Commit{{"c2", "Second"}, {"c1", "First"}}}
	for name, tt := range map[string]struct {
		edits []*Edit
		want  string
		all   int
	}{
		"one":           {[]*Edit{one, one}, "form at web.yaml:9 (c2 Second)", 1},
		"different":     {[]*Edit{one, two}, "form at web.yaml:9 (up to 2 commits, newest c2 Second)", 2},
		"unknown":       {[]*Edit{one, nil}, "form at web.yaml:9", 1},
		"not committed": {[]*Edit{two, two}, "form at web.yaml:9 (not committed, c2 Second, and 1 earlier commit)", 1},
	} {
		t.Run(name, func(t *testing.T) {
			for what, c := range map[string]Change{
				"a field": {Fields: []Field{{Path: ".a", Cause: "form", Place: "web.yaml:9"}}},
				"a whole": {Cause: "form", Place: "web.yaml:9"},
			} {
				var changes []Change
				for i, e := range tt.edits {
					c.Node, c.Edit = &lynq.NodeID{Name: fmt.Sprint(i)}, e
					changes = append(changes, c)
				}
				s := Of(changes, 2)
				equal(t, name+" "+what+": "+strings.Join(s.CausesAt(&s.Groups[0]), "; "), name+" "+what+": "+tt.want)
				if got := len(s.Edits()); got != tt.all || len(s.Groups) != 1 {
					t.Errorf("%s: %d edits in %d groups", what, got, len(s.Groups))
				}
			}
		})
	}
}
