package render_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/lynqctl/lynqctl/pkg/render"
)

// documents has the results of Documents.
type documents struct {
	nodes   []string
	objects map[string]string // from the object's reference to its document
	failed  map[string]bool
	stream  strings.Builder
}

func (d *documents) add(n *render.Rendered[render.Document]) {
	name := n.Namespace + "/" + n.Name
	d.nodes = append(d.nodes, name)
	d.failed[name] = len(n.Problems) > 0
	d.stream.Write(n.Out.Bytes)
	for _, o := range n.Out.Objects {
		d.objects[fmt.Sprint(name, " ", o.ID, " ", o.Ref)] = string(n.Out.Bytes[o.Start:o.End])
	}
}

func writeAll(t *testing.T, text string, s render.Settings, records []record) (*documents, *render.Run) {
	t.Helper()
	programs := compileAll(t, load(t, text), render.Options{})
	written := &documents{objects: map[string]string{}, failed: map[string]bool{}}
	run := render.NewRun(s, programs)
	for n, err := range run.Documents(context.Background(), render.Input{
		Programs: programs, Rows: rowsOf(programs[0].Hub, records), Place: func(int) string { return "row" },
	}) {
		if err != nil {
			t.Fatal(err)
		}
		written.add(&n)
	}
	for _, i := range run.Retracted() {
		written.failed[written.nodes[i]] = true
	}
	return written, run
}

// TestDocuments checks that the documents of objects equal those of the stream, for any
// content.
func TestDocuments(t *testing.T) {
	text := hubYAML + configMap("x: \"{{ .a }}\"\nscript: |\n  ---\n  {{ .b }}\n  ---")
	records := []record{{"id": "a", "a": "---", "b": "---\n--- x"}, {"id": "b", "a": "x\n---\n", "b": "..."}, {"id": "c", "a": "--- a"}}
	for _, workers := range []int{1, 3} {
		sink, _ := writeAll(t, text, render.Settings{Workers: workers}, records)
		if diff := cmp.Diff(stream(t, text, records...), sink.stream.String()); diff != "" {
			t.Error(diff)
		}
		whole := ""
		for _, id := range []string{"a", "b", "c"} {
			name := "default/" + id + "-web r ConfigMap/default/" + id
			if sink.objects[name] == "" {
				t.Errorf("%s is not among %v", name, sink.objects)
			}
			whole += "---\n" + sink.objects[name]
		}
		if diff := cmp.Diff(sink.stream.String(), whole); diff != "" {
			t.Error(diff)
		}
	}
}

// TestDocumentsOfNodes checks that failed nodes are reported, even if they fail later, and
// that skipped objects have no bytes.
func TestDocumentsOfNodes(t *testing.T) {
	selector, err := labels.Parse("b=x")
	if err != nil {
		t.Fatal(err)
	}
	sink, run := writeAll(t, twoForms, render.Settings{Selector: selector, KeepGoing: true}, []record{
		{"id": "a", "a": "1", "b": "x"}, {"id": "b", "a": "no number", "b": "x"}, {"id": "c", "a": "3", "b": "y"}, {"id": "a-1", "a": "two", "b": "x"},
	})
	if run.Err() == nil {
		t.Error("nothing failed")
	}
	if diff := cmp.Diff(map[string]bool{
		"default/a-one": false, "default/a-two": false, "default/b-one": true, "default/b-two": true,
		"default/c-one": false, "default/c-two": false, "default/a-1-one": false, "default/a-1-two": true,
	}, sink.failed); diff != "" {
		t.Error(diff)
	}
	if got := sink.objects["default/c-one x ConfigMap/default/c-3"]; got != "" {
		t.Errorf("what is left out has bytes: %s", got)
	}
	if got := sink.objects["default/a-one x ConfigMap/default/a-1"]; !strings.HasPrefix(got, "apiVersion: v1\n") {
		t.Errorf("%q", got)
	}
}

// TestFields checks the columns of each field.
func TestFields(t *testing.T) {
	text := hubYAML + formYAML("deployments", `nameTemplate: "{{ .uid }}"
labelsTemplate: {plan: "{{ .a }}", fixed: x}
spec:
  apiVersion: apps/v1
  kind: Deployment
  spec:
    replicas: "{{ .a | int }}"
    template:
      spec:
        containers:
        - name: app
          image: "{{ .b }}:{{ .a }}"
          args: ["{{ .host }}", "{{ if .b }}{{ .uid }}{{ end }}", "{{ .hubId }}"]
`)
	p := compileAll(t, load(t, text), render.Options{})[0]
	got := map[string]string{}
	for _, f := range p.Fields("r") {
		path := strings.Join(f.Path, " ")
		got[path] += "(" + strings.Join(f.Columns, " ") + ")"
	}
	container := "spec template spec containers [] "
	if diff := cmp.Diff(map[string]string{
		"metadata name": "(id)", "metadata labels plan": "(a)", "spec replicas": "(a)",
		container + "image": "(a b)", container + "args []": "(url)(b id)",
	}, got); diff != "" {
		t.Error(diff)
	}
	if p.Fields("none") != nil {
		t.Error("a resource that doesn't exist has fields")
	}
}
