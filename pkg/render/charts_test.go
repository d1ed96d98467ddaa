package render_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// release is what a chart of a test gets.
type release struct {
	chart, name, namespace string
	values                 map[string]any
}

// chartsOf renders each chart with a function of a test.
type chartsOf func(r release) ([]form.ChartObject, lynq.Problems)

func (chartsOf) Open(c *form.Chart) (render.OpenedChart, lynq.Problems) {
	return render.OpenedChart{Name: c.ID, Version: "1.0.0", Digest: "of " + c.Path.Text}, nil
}

func (f chartsOf) Release(o *render.OpenedChart, name, namespace string, values []byte) ([]form.ChartObject, lynq.Problems) {
	r := release{chart: o.Name, name: name, namespace: namespace}
	if err := json.Unmarshal(values, &r.values); err != nil {
		return nil, lynq.Problems{{What: err.Error()}}
	}
	return f(r)
}

// chartForm returns a form with charts, and one ServiceAccount before these.
func chartForm(charts string) string {
	return hubYAML + `apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: crm
  serviceAccounts:
  - {id: account, nameTemplate: "{{ .uid }}", spec: {apiVersion: v1, kind: ServiceAccount}}
  charts:
` + indent(charts, "  ")
}

// loadFile loads inputs from a file, because forms with charts need a directory.
func loadFile(t testing.TB, text string) (*form.Inputs, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "forms.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return form.Load([]string{name}, false, strings.NewReader(""))
}

// renderCharts renders rows of a form with charts.
func renderCharts(t testing.TB, text string, charts chartsOf, o render.Options, records ...record) (string, *render.Run, error) {
	t.Helper()
	in, err := loadFile(t, text)
	if err != nil {
		t.Fatal(err)
	}
	o.Charts = charts
	return runAll(t, compileAll(t, in, o), records, render.Settings{})
}

// settings makes one ConfigMap of all values.
func settings(r release) ([]form.ChartObject, lynq.Problems) {
	values, _ := json.Marshal(r.values)
	return []form.ChartObject{{File: "app/templates/settings.yaml", Text: fmt.Sprintf(
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s-settings}\ndata: {values: '%s', text: '{{ .notATemplate }}'}\n", r.name, values)}}, nil
}

// TestChartValues wants a row's release with typed values, and its objects with lynqctl's own
// metadata, after the form's own resources. Texts of the chart aren't templates.
func TestChartValues(t *testing.T) {
	got, run, err := renderCharts(t, chartForm(`- id: app
  path: app
  releaseName: "{{ .uid }}-app"
  namespace: "ns-{{ .uid }}"
  values: {replicas: "{{ .a | int }}", enabled: "{{ eq .b \"x\" | bool }}", text: "{{ .b }}", fixed: [1, 2.5, null, {deep: "{{ .uid }}"}]}
`), settings, render.Options{}, record{"id": "acme", "a": "3", "b": "x"})
	want := `---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: acme
  namespace: default
  labels:
    lynq.sh/hub: crm
  annotations:
    lynq.sh/deletion-policy: Delete
    lynq.sh/resource-id: account
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: acme-app-settings
  namespace: ns-acme
  labels:
    lynq.sh/hub: crm
    lynq.sh/node: acme-web
    lynq.sh/node-namespace: default
  annotations:
    lynq.sh/deletion-policy: Delete
    lynq.sh/resource-id: app-configmap-settings
data:
  values: '{"enabled":true,"fixed":[1,2.5,null,{"deep":"acme"}],"replicas":3,"text":"x"}'
  text: "{{ .notATemplate }}"
`
	if err != nil || got != want || run.Report().Objects != 2 {
		t.Errorf("%v, %d objects\n%s\nwant\n%s", err, run.Report().Objects, got, want)
	}
}
