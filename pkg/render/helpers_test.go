package render_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
	"github.com/lynqctl/lynqctl/pkg/render/buffer"
)

// hubYAML is a hub with columns id, active, a, b and url.
const hubYAML = `
apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: crm}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active, hostOrUrl: url}
  extraValueMappings: {a: a, b: b}
---
`

// formYAML returns a form of the hub with one resource.
func formYAML(section, resource string) string {
	return fmt.Sprintf(`apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: crm
  %s:
  - id: r
%s`, section, indent(resource, "    "))
}

// configMap returns a form with one ConfigMap, whose data has the given lines.
func configMap(data string) string {
	return formYAML("configMaps", "nameTemplate: \"{{ .uid }}\"\nspec:\n  apiVersion: v1\n  kind: ConfigMap\n  data:\n"+indent(data, "    "))
}

// custom returns a form with one custom resource, which has the given spec.
func custom(spec string) string {
	return formYAML("manifests", "nameTemplate: \"{{ .uid }}\"\nspec:\n  apiVersion: example.com/v1\n  kind: Thing\n  spec:\n"+indent(spec, "    "))
}

func indent(s, by string) string {
	return by + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n"+by) + "\n"
}

// load loads valid inputs.
func load(t testing.TB, text string) *form.Inputs {
	t.Helper()
	in, err := form.Load([]string{"-"}, false, strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, text)
	}
	return in
}

// compileAll compiles all forms.
func compileAll(t testing.TB, in *form.Inputs, o render.Options) []*render.Program {
	t.Helper()
	var programs []*render.Program
	o.ClusterScoped = in.ClusterScoped
	for _, f := range in.Forms {
		p, problems := render.Compile(f, in.Hub(f), o)
		if len(problems) > 0 {
			t.Fatal(problems.Err())
		}
		programs = append(programs, p)
	}
	return programs
}

// problemsOf compiles an invalid form, and returns its problems.
func problemsOf(t testing.TB, text string, o render.Options) string {
	t.Helper()
	in := load(t, text)
	var all lynq.Problems
	for _, f := range in.Forms {
		_, problems := render.Compile(f, in.Hub(f), o)
		all = append(all, problems...)
	}
	if len(all) == 0 {
		return ""
	}
	return all.Err().Error()
}

// record is a row by column name.
type record map[string]string

// row returns the values of Columns.
func (r record) row(h *form.Hub, line int) lynq.Row {
	row := lynq.Row{Line: line}
	for _, c := range render.Columns(h) {
		v, ok := r[c]
		if c == "active" && !ok {
			v = "1"
		}
		row.Values = append(row.Values, v)
		row.Null = append(row.Null, c == "id" && !ok)
	}
	return row
}

func rowsOf(h *form.Hub, records []record) iter.Seq2[lynq.Row, error] {
	return func(yield func(lynq.Row, error) bool) {
		for i, r := range records {
			if !yield(r.row(h, i+2), nil) {
				return
			}
		}
	}
}

// runAll renders records with all programs of one hub.
func runAll(t testing.TB, programs []*render.Program, records []record, s render.Settings) (string, *render.Run, error) {
	t.Helper()
	nodes := buffer.New(1 << 20)
	defer func() {
		if err := nodes.Close(); err != nil {
			t.Error(err)
		}
	}()
	run := render.NewRun(s, programs)
	hub := programs[0].Hub
	var failed error
	for n, err := range run.Bytes(context.Background(), render.Input{
		Programs: programs,
		Rows:     rowsOf(hub, records),
		Place:    func(line int) string { return fmt.Sprintf("rows.csv:%d", line) },
	}) {
		if failed = err; err != nil {
			break
		}
		if err := nodes.Add(n.Out); err != nil {
			t.Fatal(err)
		}
	}
	nodes.Drop(run.Retracted()...)
	var out strings.Builder
	if _, err := nodes.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	return out.String(), run, failed
}

// stream renders valid records.
func stream(t testing.TB, text string, records ...record) string {
	t.Helper()
	in := load(t, text)
	out, run, err := runAll(t, compileAll(t, in, render.Options{}), records, render.Settings{})
	if err != nil || run.Err() != nil {
		t.Fatal(err, run.Err())
	}
	return out
}
