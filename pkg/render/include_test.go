package render_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/render"
)

// conditional has resources for some rows only. The number would be an error for other
// rows, so the test fails if lynqctl renders it.
const conditional = hubYAML + `apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: crm
  configMaps:
  - {id: all, nameTemplate: "{{ .uid }}", spec: {apiVersion: v1, kind: ConfigMap, data: {a: "{{ .a }}"}}}
  - id: gold
    includeWhen: '{{ eq .a "gold" }}'
    nameTemplate: "{{ .uid }}-gold-{{ .b | int }}"
    dependIds: [all]
    spec: {apiVersion: v1, kind: ConfigMap, data: {a: "{{ .a }}"}}
  - {id: after, nameTemplate: "{{ .uid }}-after", dependIds: [gold], spec: {apiVersion: v1, kind: ConfigMap}}
  - {id: never, includeWhen: "false", nameTemplate: "{{ .uid }}", spec: {apiVersion: v1, kind: ConfigMap}}
  - {id: urls, includeWhen: "{{ .hostOrUrl | bool }}", nameTemplate: "{{ .uid }}-url", spec: {apiVersion: v1, kind: ConfigMap}}
`

func TestIncludeWhen(t *testing.T) {
	out := stream(t, conditional, record{"id": "x", "a": "gold", "b": "3", "url": "no"}, record{"id": "y", "a": "free", "b": "none", "url": "yes"})
	var got []string
	for _, line := range strings.Split(out, "\n") {
		if name, ok := strings.CutPrefix(line, "  name: "); ok {
			got = append(got, strings.Trim(name, `"`))
		}
	}
	if diff := cmp.Diff([]string{"x", "x-gold-3", "x-after", "y", "y-after", "y-url"}, got); diff != "" {
		t.Error(diff)
	}
	in := load(t, conditional)
	p := compileAll(t, in, render.Options{})[0]
	n, problems := p.Node(record{"id": "y", "a": "free", "url": "yes"}.row(in.Hubs[0], 2))
	if len(problems) > 0 || len(n.Objects) != 3 || n.Objects[1].ID != "after" {
		t.Fatalf("%+v %v", n, problems)
	}
	if diff := cmp.Diff([]string{"gold", "never"}, n.NotIncluded); diff != "" {
		t.Error(diff)
	}
	// The same frame serves the next row, which gets other resources.
	_, run, err := runAll(t, []*render.Program{p}, []record{{"id": "y", "a": "free", "url": "0"}, {"id": "x", "a": "gold", "b": "3", "url": "1"}}, render.Settings{Workers: 1})
	if r := run.Report(); err != nil || r.Nodes != 2 || r.Objects != 6 {
		t.Errorf("%+v %v", r, err)
	}
}

// TestIncludeWhenFails checks that a condition that fails or isn't a boolean fails its
// row. lynqctl doesn't guess the row's objects.
func TestIncludeWhenFails(t *testing.T) {
	programs := compileAll(t, load(t, conditional), render.Options{})
	out, run, err := runAll(t, programs, []record{{"id": "x", "a": "free", "url": "perhaps"}, {"id": "y", "a": "gold", "b": "none", "url": "0"}, {"id": "z", "a": "free", "url": "0"}}, render.Settings{KeepGoing: true})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, "name: z") || strings.Contains(out, "name: x") || strings.Contains(out, "name: y") {
		t.Error(out)
	}
	problem := run.Err().Error()
	for _, want := range []string{`resource "urls", includeWhen: row "x": `, `resource "gold", nameTemplate: row "y": `} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(problem, want) {
				t.Errorf("%q lacks %q", problem, want)
			}
		})
	}
	text := strings.Replace(conditional, `'{{ eq .a "gold" }}'`, `'{{ .a }}'`, 1)
	_, run, err = runAll(t, compileAll(t, load(t, text), render.Options{}), []record{{"id": "x", "a": "gold", "url": "0"}}, render.Settings{KeepGoing: true})
	if err != nil || run.Err() == nil || !strings.Contains(run.Err().Error(), `resource "gold", includeWhen: row "x": it gives "gold", and true or false is needed`) {
		t.Errorf("%v %v", run.Err(), err)
	}
}
