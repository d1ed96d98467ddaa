package render_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// twoForms have one ConfigMap each.
const twoForms = hubYAML + `
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: one}
spec:
  hubId: crm
  configMaps:
  - {id: x, nameTemplate: "{{ .uid }}-{{ .a }}", labelsTemplate: {b: "{{ .b }}"}, spec: {apiVersion: v1, kind: ConfigMap}}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: two}
spec:
  hubId: crm
  configMaps:
  - {id: second, nameTemplate: "{{ .uid }}-two", spec: {apiVersion: v1, kind: ConfigMap, data: {num: "{{ .a | int }}"}}}
`

func names(out string) []string {
	var names []string
	for line := range strings.Lines(out) {
		if n, found := strings.CutPrefix(line, "  name: "); found {
			names = append(names, strings.TrimSpace(n))
		}
	}
	return names
}

// TestOrder checks the order of rows, and of forms by name, for any number of workers and
// rows.
func TestOrder(t *testing.T) {
	programs := compileAll(t, load(t, twoForms), render.Options{})
	var records []record
	var want []string
	for i := range 1000 {
		r := record{"id": fmt.Sprintf("t%d", i), "a": fmt.Sprint(i % 7)}
		if i%5 == 0 {
			r["active"] = "no"
		} else {
			want = append(want, fmt.Sprintf("%s-%s", r["id"], r["a"]), r["id"]+"-two")
		}
		records = append(records, r)
	}
	for _, workers := range []int{1, 2, 7} {
		out, run, err := runAll(t, programs, records, render.Settings{Workers: workers})
		if err != nil || run.Err() != nil {
			t.Fatal(err, run.Err())
		}
		if diff := cmp.Diff(want, names(out)); diff != "" {
			t.Errorf("%d workers: %s", workers, diff)
		}
		if diff := cmp.Diff(render.Report{Rows: 1000, Active: 800, Nodes: 1600, Objects: 1600}, run.Report()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestNarrow(t *testing.T) {
	programs := compileAll(t, load(t, twoForms), render.Options{})
	records := []record{{"id": "a", "a": "1", "b": "x"}, {"id": "b", "a": "2", "b": "y"}}
	selector, err := labels.Parse("b in (y), lynq.sh/hub=crm")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		settings render.Settings
		want     []string
	}{
		{render.Settings{}, []string{"a-1", "a-two", "b-2", "b-two"}},
		{render.Settings{Nodes: map[string]bool{"a-two": true, "b-one": true}}, []string{"a-two", "b-2"}},
		{render.Settings{Selector: selector}, []string{"b-2"}},
	} {
		out, run, err := runAll(t, programs, records, c.settings)
		if diff := cmp.Diff(c.want, names(out)); diff != "" || err != nil || len(run.Missing()) > 0 {
			t.Error(diff, err, run.Missing())
		}
	}
	_, run, err := runAll(t, programs, records, render.Settings{Nodes: map[string]bool{"a-two": true, "z-one": true}})
	if diff := cmp.Diff([]string{"z-one"}, run.Missing()); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestJSON(t *testing.T) {
	programs := compileAll(t, load(t, hubYAML+configMap(`a: "<&>"`)), render.Options{})
	out, _, err := runAll(t, programs, []record{{"id": "a"}, {"id": "b"}}, render.Settings{Format: render.JSON})
	want := ""
	for _, id := range []string{"a", "b"} {
		want += `{"apiVersion":"v1","data":{"a":"<&>"},"kind":"ConfigMap","metadata":{"annotations":{"lynq.sh/deletion-policy":"Delete","lynq.sh/resource-id":"r"},"labels":{"lynq.sh/hub":"crm"},"name":"` + id + `","namespace":"default"}}` + "\n"
	}
	if diff := cmp.Diff(want, out); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// TestBadRows checks that a run names all bad rows, and returns nothing else.
func TestBadRows(t *testing.T) {
	programs := compileAll(t, load(t, twoForms), render.Options{})
	_, _, err := runAll(t, programs, []record{
		{"id": "a", "a": "1"},
		{"id": "b", "active": "treu"},
		{"id": "a", "a": "2"},
		{"id": " "},
		{},
		{"id": " a "},
		{"active": "nein"},
	}, render.Settings{KeepGoing: true})
	var bad *render.RowsError
	if !errors.As(err, &bad) {
		t.Fatalf("got %v", err)
	}
	want := `rows.csv:3: row "b", column "active": activation value "treu" is neither active (1 true yes t on) nor inactive (0 false no f off, empty, NULL) (fix the row, or list the value in the hub's activeValues or inactiveValues; nothing is rendered until then)
rows.csv:4: uid "a" (column "id") has two active rows (a uid names one tenant: keep one row active; the other is at rows.csv:2)
rows.csv:5: the uid (column "id") is empty (give every active row a uid)
rows.csv:6: the uid (column "id") is NULL (give every active row a uid)
rows.csv:7: uid " a " (column "id") has two active rows (a uid names one tenant: keep one row active; the other is at rows.csv:2; blanks around it do not count)
rows.csv:8: column "active": activation value "nein" is neither active (1 true yes t on) nor inactive (0 false no f off, empty, NULL) (fix the row, or list the value in the hub's activeValues or inactiveValues; nothing is rendered until then)`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
}

// TestInactiveRows checks that inactive rows may have duplicate or empty uids, before and
// after the active row.
func TestInactiveRows(t *testing.T) {
	programs := compileAll(t, load(t, hubYAML+configMap(`a: b`)), render.Options{})
	out, run, err := runAll(t, programs, []record{
		{"id": "a", "active": "0"}, {"id": "a"}, {"id": " a ", "active": "no"}, {"id": "a", "active": ""},
		{"active": "0"}, {"id": " ", "active": "f"}, {"active": "off"},
	}, render.Settings{})
	if diff := cmp.Diff([]string{"a"}, names(out)); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	if got := run.Report(); got.Rows != 7 || got.Active != 1 {
		t.Errorf("rows are counted as %+v", got)
	}
}

// TestFailedRows checks that all failures are listed, and that the rest is written only
// with KeepGoing.
func TestFailedRows(t *testing.T) {
	programs := compileAll(t, load(t, twoForms), render.Options{})
	records := []record{{"id": "a", "a": "1"}, {"id": "b", "a": "x"}, {"id": "c", "a": "Y"}, {"id": "d", "a": "2"}}
	for keepGoing, want := range map[bool][]string{true: {"a-1", "a-two", "b-x", "d-2", "d-two"}, false: {"a-1", "a-two", "b-x"}} {
		out, run, err := runAll(t, programs, records, render.Settings{KeepGoing: keepGoing})
		if diff := cmp.Diff(want, names(out)); diff != "" || err != nil {
			t.Error(keepGoing, diff, err)
		}
		var failed *render.RowsError
		if !errors.As(run.Err(), &failed) {
			t.Fatal(run.Err())
		}
		want := `stdin:25: form "two", resource "second", data.num: row "b": "x" is not a whole number
stdin:17: form "one", resource "x", nameTemplate: row "c": name "c-Y" isn't valid in Kubernetes (use lowercase letters, digits, '-', and '.', and start and end with a letter or digit)
stdin:25: form "two", resource "second", data.num: row "c": "Y" is not a whole number`
		if diff := cmp.Diff(want, failed.Error()); diff != "" || run.Report().FailedNodes != 3 {
			t.Error(diff, run.Report().FailedNodes)
		}
	}
}

// TestDuplicates checks that a duplicate object or node fails both nodes.
func TestDuplicates(t *testing.T) {
	text := hubYAML + `
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: one}
spec:
  hubId: crm
  configMaps:
  - {id: x, nameTemplate: "{{ .a }}", spec: {apiVersion: v1, kind: ConfigMap}}
  - {id: second, nameTemplate: "{{ .b }}", spec: {apiVersion: v1, kind: ConfigMap}}
`
	out, run, err := runAll(t, compileAll(t, load(t, text), render.Options{}), []record{
		{"id": "p", "a": "p1", "b": "p2"},
		{"id": "q", "a": "p2", "b": "p1"},
		{"id": "r", "a": "r1", "b": "r1"},
		{"id": "s", "a": "s1", "b": "s2"},
	}, render.Settings{KeepGoing: true})
	want := `stdin:17: row "q" renders ConfigMap/default/p2 (form "one", resource "x"), which row "p" (form "one", resource "second") renders too (each must have a name of its own)
stdin:18: row "q" renders ConfigMap/default/p1 (form "one", resource "second"), which row "p" (form "one", resource "x") renders too (each must have a name of its own)
stdin:18: row "r" renders ConfigMap/default/r1 (form "one", resource "second"), which resource "x" of the same row renders too (each must have a name of its own)`
	if diff := cmp.Diff(want, fmt.Sprint(run.Err())); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if diff := cmp.Diff([]string{"s1", "s2"}, names(out)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(render.Report{Rows: 4, Active: 4, Nodes: 1, Objects: 2, FailedNodes: 3}, run.Report()); diff != "" {
		t.Error(diff)
	}
}

// TestChainedDuplicates checks that each of several colliding nodes counts once, and that
// none is written.
func TestChainedDuplicates(t *testing.T) {
	text := hubYAML + formYAML("configMaps", `nameTemplate: "{{ .a }}"
spec: {apiVersion: v1, kind: ConfigMap}
`) + `  - {id: other, nameTemplate: "{{ .b }}", spec: {apiVersion: v1, kind: ConfigMap}}
`
	programs := compileAll(t, load(t, text), render.Options{})
	for range 50 { // the order must not depend on a map's order
		out, run, err := runAll(t, programs, []record{
			{"id": "p", "a": "x", "b": "y"}, {"id": "q", "a": "y", "b": "z"}, {"id": "r", "a": "z", "b": "u"}, {"id": "s", "a": "u", "b": "v"},
			{"id": "t", "a": "t", "b": "w"},
		}, render.Settings{KeepGoing: true})
		if err != nil || run.Report().FailedNodes != 4 || run.Report().Nodes != 1 {
			t.Fatal(err, run.Report(), run.Err())
		}
		if diff := cmp.Diff([]string{"t", "w"}, names(out)); diff != "" {
			t.Fatal(diff)
		}
	}
}

// TestUnique checks that the run compares exactly the objects that might be duplicates.
func TestUnique(t *testing.T) {
	form := func(name, resources string) string {
		return "\n---\napiVersion: operator.lynq.sh/v1\nkind: LynqForm\nmetadata: {name: " + name + "}\nspec:\n  hubId: crm\n" + resources
	}
	configMap := func(id, name, more string) string {
		return "  - {id: " + id + ", nameTemplate: '" + name + "', " + more + "spec: {apiVersion: v1, kind: ConfigMap}}\n"
	}
	for _, c := range []struct {
		forms string
		rows  []record
		nodes int // number of failed nodes
	}{
		{form("f", "  configMaps:\n"+configMap("r", "x-{{ .uid }}-y", "")), []record{{"id": "a"}, {"id": "b"}}, 0},
		// Two resources of a kind make the same text from different parts.
		{form("f", "  configMaps:\n"+configMap("r", "{{ .uid }}", "")+configMap("s", "{{ .uid }}-a", "")), []record{{"id": "b"}, {"id": "b-a"}}, 2},
		// Two forms have one kind in different sections.
		{form("f", "  configMaps:\n"+configMap("r", "{{ .uid }}", "")) + form("g", "  manifests:\n"+configMap("s", "{{ .uid }}-a", "")), []record{{"id": "b"}, {"id": "b-a"}}, 2},
		// These names lack the uid, change it, or have it twice.
		{form("f", "  configMaps:\n"+configMap("r", "{{ .a }}", "")), []record{{"id": "b", "a": "x"}, {"id": "c", "a": "x"}}, 2},
		{form("f", "  configMaps:\n"+configMap("r", "{{ .uid | lower }}", "")), []record{{"id": "b"}, {"id": "B"}}, 2},
		{form("f", "  configMaps:\n"+configMap("r", "{{ .uid }}{{ .a }}", "")), []record{{"id": "b", "a": "cd"}, {"id": "bc", "a": "d"}}, 2},
		{form("f", "  configMaps:\n"+configMap("r", "same", "")), []record{{"id": "b"}, {"id": "c"}}, 2},
		// The row sets the namespace.
		{form("f", "  configMaps:\n"+configMap("r", "{{ .uid }}", "targetNamespace: '{{ .a }}', ")), []record{{"id": "b", "a": "n"}, {"id": "c", "a": "n"}}, 0},
		// Nodes collide if names of forms have the same end, or if names are hashed.
		{form("c", "  configMaps:\n"+configMap("r", "{{ .uid }}-c", "")) + form("b-c", "  configMaps:\n"+configMap("s", "{{ .uid }}-b", "")), []record{{"id": "a"}, {"id": "a-b"}}, 0},
		{form("web", "  configMaps:\n"+configMap("r", "x-{{ .uid | lower }}", "")) + form("ce85ee4a", "  configMaps:\n"+configMap("s", "y-{{ .uid | lower }}", "")), []record{{"id": "Acme"}, {"id": "acme-web"}}, 2},
		{form("ce85ee4a", "  configMaps:\n"+configMap("r", "{{ .uid }}", "")), []record{{"id": "b"}, {"id": "c"}}, 0},
	} {
		t.Run(c.forms, func(t *testing.T) {
			_, run, err := runAll(t, compileAll(t, load(t, hubYAML+strings.TrimPrefix(c.forms, "\n---")), render.Options{}), c.rows, render.Settings{KeepGoing: true})
			if err != nil || run.Report().FailedNodes != c.nodes {
				t.Errorf("%d nodes fail, want %d: %v, %v\n%s", run.Report().FailedNodes, c.nodes, err, run.Err(), c.forms)
			}
		})
	}
}

// drain renders a hub, up to most nodes, and returns the run's error.
func drain(ctx context.Context, programs []*render.Program, most int, rows iter.Seq2[lynq.Row, error]) (nodes int, err error) {
	run := render.NewRun(render.Settings{}, programs)
	for _, err := range run.Bytes(ctx, render.Input{Programs: programs, Place: func(int) string { return "" }, Rows: rows}) {
		if err != nil {
			return nodes, err
		}
		if nodes++; nodes == most {
			break
		}
	}
	return nodes, nil
}

// endless returns rows without an end, and calls read for each.
func endless(p *render.Program, read func(i int)) iter.Seq2[lynq.Row, error] {
	return func(yield func(lynq.Row, error) bool) {
		for i := 0; yield(record{"id": fmt.Sprint("t", i), "a": "1"}.row(p.Hub, i), nil); i++ {
			read(i)
		}
	}
}

// TestBrokenSource checks that an error of the source is the run's error.
func TestBrokenSource(t *testing.T) {
	programs := compileAll(t, load(t, twoForms), render.Options{})
	cut := errors.New("connection reset")
	_, err := drain(context.Background(), programs, 0, func(yield func(lynq.Row, error) bool) {
		for i := range 100 {
			if !yield(record{"id": fmt.Sprint("t", i), "a": "1"}.row(programs[0].Hub, i), nil) {
				return
			}
		}
		yield(lynq.Row{}, cut)
	})
	if !errors.Is(err, cut) {
		t.Errorf("got %v", err)
	}
}

// TestStopped checks that a run over endless rows ends when the caller stops.
func TestStopped(t *testing.T) {
	programs := compileAll(t, load(t, twoForms), render.Options{})
	if nodes, err := drain(context.Background(), programs, 100, endless(programs[0], func(int) {})); nodes != 100 || err != nil {
		t.Errorf("%d nodes, %v", nodes, err)
	}
}

// TestCancel checks that a canceled context ends a run over endless rows.
func TestCancel(t *testing.T) {
	programs := compileAll(t, load(t, twoForms), render.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	_, err := drain(ctx, programs, 0, endless(programs[0], func(i int) {
		if i == 1000 {
			cancel()
		}
	}))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestNodes checks that nodes follow the order of rows for any worker. A node that doesn't
// count has its identity, but no objects.
func TestNodes(t *testing.T) {
	programs := compileAll(t, load(t, twoForms), render.Options{})
	var records []record
	for i := range 200 {
		records = append(records, record{"id": fmt.Sprint("t", i), "a": fmt.Sprint(i)})
	}
	records[50]["a"], records[60]["a"], records[61]["id"] = "no number", "1-two", "t60-1"
	run := render.NewRun(render.Settings{Workers: 3, KeepGoing: true}, programs)
	var got []string
	for n, err := range render.Nodes(context.Background(), run, render.Input{
		Hub: lynq.HubKey{Namespace: "shop", Name: "crm"}, Programs: programs, Rows: rowsOf(programs[0].Hub, records), Place: func(int) string { return "" },
	}, func(n *lynq.Node, values []string) (string, error) {
		return fmt.Sprint(n.Hub, " ", n.Form, " ", n.UID, " ", n.Name, " ", len(n.Objects), " ", slices.Contains(values, n.UID)), nil
	}) {
		if err != nil {
			t.Fatal(err)
		}
		if i := len(got) / 2; n.UID != records[i]["id"] || (len(n.Problems) > 0) != (len(n.Refs) > 0) {
			t.Fatalf("node %d is %s, %v %v", len(got), n.NodeID, n.Problems, n.Refs)
		}
		got = append(got, n.Out)
	}
	if len(got) != 400 || got[1] != "shop/crm shop/two t0 t0-two 1 true" || got[101] != "shop/crm shop/two t50 t50-two 0 true" {
		t.Errorf("%d nodes: %q, %q", len(got), got[1], got[101])
	}
	if diff := cmp.Diff([]int{120}, run.Retracted()); diff != "" {
		t.Error(diff)
	}
}

// TestManyFailures checks that the list of problems is limited.
func TestManyFailures(t *testing.T) {
	programs := compileAll(t, load(t, twoForms), render.Options{})
	var records []record
	for i := range 10_010 {
		records = append(records, record{"id": fmt.Sprint("t", i), "a": "1.5"})
	}
	_, run, err := runAll(t, programs, records, render.Settings{})
	var failed *render.RowsError
	if err != nil || !errors.As(run.Err(), &failed) {
		t.Fatal(err, run.Err())
	}
	if len(failed.Problems) != 10_000 || failed.More != 10 || run.Report().FailedNodes != 10_010 || !strings.HasSuffix(failed.Error(), "\n... and 10 more") {
		t.Errorf("%d problems, %d more, %d nodes", len(failed.Problems), failed.More, run.Report().FailedNodes)
	}
}
