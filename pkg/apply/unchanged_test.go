package apply_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	forms "github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// TestUnchanged checks a form that uses nothing new. Objects, inventory and digests must be
// the same bytes as in the release before per-object policies. Otherwise an upgrade would
// write every object of every node again. So nobody regenerates the golden file, except for
// the number of the format, which no release wrote yet.
func TestUnchanged(t *testing.T) {
	inputs, err := forms.Load([]string{filepath.Join("testdata", "unchanged.yaml")}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	program, problems := render.Compile(inputs.Forms[0], inputs.Hubs[0], render.Options{ClusterScoped: inputs.ClusterScoped})
	if len(problems) > 0 {
		t.Fatal(problems.Err())
	}
	values := map[string][]string{"id": {"acme", "bolt"}, "active": {"1", "true"}, "url": {"https://acme.example.com/x", "bolt.example.com"}, "plan": {"gold", "free"}, "size": {"3", "1"}}
	var got strings.Builder
	for i := range 2 {
		row := lynq.Row{Line: i + 2}
		for _, column := range render.Columns(inputs.Hubs[0]) {
			row.Values = append(row.Values, values[column][i])
		}
		renderedBytes(t, &got, program, row)
		recordedBytes(t, &got, program, row)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "unchanged.golden"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Error(diff)
	}
}

func renderedBytes(t *testing.T, b *strings.Builder, p *render.Program, row lynq.Row) {
	t.Helper()
	var out strings.Builder
	run := render.NewRun(render.Settings{}, []*render.Program{p})
	rows := func(yield func(lynq.Row, error) bool) { yield(row, nil) }
	for n, err := range run.Bytes(context.Background(), render.Input{Programs: []*render.Program{p}, Rows: rows, Place: func(int) string { return "row" }}) {
		if err != nil || len(n.Problems) > 0 {
			t.Fatal(err, n.Problems)
		}
		out.Write(n.Out)
	}
	fmt.Fprintf(b, "# rendered\n%s", out.String())
}

func recordedBytes(t *testing.T, b *strings.Builder, p *render.Program, row lynq.Row) {
	t.Helper()
	n, problems := p.Node(row)
	if len(problems) > 0 {
		t.Fatal(problems.Err())
	}
	node, err := plan.Make(n)
	if err != nil {
		t.Fatal(err)
	}
	node.Hub.Namespace, node.Form.Namespace, node.TemplateGeneration = "shop", "shop", 3
	decided := decide.Decide(&decide.Input{Hub: lynq.HubKey{Namespace: "shop", Name: "crm"}, Desired: decide.Desired{Nodes: []*plan.Node{node}, Active: 1}}, decide.Limits{})
	next := decided.Nodes[0].NextInventory(nil, true)
	for i := range decided.Nodes[0].Steps {
		s := &decided.Nodes[0].Steps[i]
		fmt.Fprintf(b, "# %s: %s %s, order %d\n%s\n", s.Object.ID, s.Action, s.Reason, s.Object.Order, s.Object.Body)
		r := s.NextEntry()
		r.UID, r.Digest, r.Template, r.Ready = "u", s.Object.Digest, s.Object.Template, true
		next.Entries = append(next.Entries, r)
	}
	cm, err := inventory.Encode(next)
	if err != nil {
		t.Fatal(err)
	}
	record, err := yaml.Marshal(cm)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(b, "# recorded\n%s", record)
}
