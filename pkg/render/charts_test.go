package render_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// release is what a chart of a test gets.
type release struct {
	chart, name, namespace string
	values                 map[string]any
	secret, check          bool
}

// chartsOf renders each chart with a function of a test.
type chartsOf func(r release) ([]form.ChartObject, lynq.Problems)

func (chartsOf) Build(lynq.Pos, string, string, map[string][]byte) (form.Base, lynq.Problems) {
	return form.Base{}, nil
}

func (chartsOf) Open(c *form.Chart) (form.OpenedChart, lynq.Problems) {
	return form.OpenedChart{Name: c.ID, Version: "1.0.0", Digest: "of " + c.Path.Text, DeletionHooks: true, Kinds: []form.ChartKind{{}}}, nil
}

func (chartsOf) Failed() error { return nil }

func (f chartsOf) Release(c *form.Chart, of *render.Release) ([]form.ChartObject, lynq.Problems) {
	r := release{chart: c.ID, name: of.Name, namespace: of.Namespace, secret: of.Secret, check: of.Check}
	if err := json.Unmarshal(of.Values, &r.values); err != nil {
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
	var none *form.Memory
	return none.Load(chartsOf(nil), []string{name}, false, strings.NewReader(""))
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

// object returns an object of a chart without contents.
func object(kind, name string, annotations string) form.ChartObject {
	apiVersion := map[string]string{"Job": "batch/v1", "Deployment": "apps/v1"}[kind]
	if apiVersion == "" {
		apiVersion = "v1"
	}
	return form.ChartObject{File: "app/templates/" + name + ".yaml", Text: fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: %s, annotations: {%s}}}", apiVersion, kind, name, annotations)}
}

// TestChartOrder wants hooks of a chart before and after the form's own resources, and no chart
// for rows that don't get it. Only these rows need its values.
func TestChartOrder(t *testing.T) {
	text := chartForm(`- {id: app, path: app, includeWhen: '{{ ne .a "none" }}', values: {n: "{{ .b | int }}"}}`)
	got, run, err := renderCharts(t, text, func(r release) ([]form.ChartObject, lynq.Problems) {
		return []form.ChartObject{
			object("ConfigMap", r.name, ""), object("Job", r.name+"-before", "helm.sh/hook: pre-install"),
			object("Job", r.name+"-after", "helm.sh/hook: post-install"), object("Job", r.name+"-bye", "helm.sh/hook: pre-delete"),
		}, nil
	}, render.Options{}, record{"id": "acme", "a": "some", "b": "1"}, record{"id": "bolt", "a": "none", "b": "no number"})
	var names []string
	for line := range strings.Lines(got) {
		if name, is := strings.CutPrefix(line, "  name: "); is {
			names = append(names, strings.TrimSpace(name))
		}
	}
	if want := "acme-before acme acme acme-after bolt"; err != nil || run.Err() != nil || strings.Join(names, " ") != want {
		t.Errorf("%v, %v, %s, want %s", err, run.Err(), names, want)
	}
}

// TestChartErrors wants each error of a row's release to name the row and the template, and
// other rows to render.
func TestChartErrors(t *testing.T) {
	text := chartForm(`- {id: app, path: app, releaseName: "{{ .a }}", values: {b: "{{ .b }}"}}`)
	charts := func(r release) ([]form.ChartObject, lynq.Problems) {
		switch r.values["b"] {
		case "fail":
			return nil, lynq.Problems{{Pos: lynq.Pos{File: "app/templates/x.yaml", Line: 7}, What: "b is wrong", Fix: "mend it"}}
		case "broken":
			return []form.ChartObject{{File: "app/templates/y.yaml", Text: "kind: ["}}, nil
		case "hook":
			job := object("Job", "bye", "helm.sh/hook: pre-delete")
			job.Text = strings.Replace(job.Text, "metadata: {", "metadata: {namespace: other, ", 1)
			return []form.ChartObject{job}, nil
		case "name":
			return []form.ChartObject{object("Service", "UPPER", "")}, nil
		case "taken":
			return []form.ChartObject{object("ServiceAccount", "acme", "")}, nil
		}
		return []form.ChartObject{object("ConfigMap", r.name, "")}, nil
	}
	for _, c := range []struct {
		a, b, want string
	}{
		{"x", "fail", `app/templates/x.yaml:7: form "web", chart "app": row "row": b is wrong (mend it)`},
		{"x", "broken", `app/templates/y.yaml: row "row": not YAML`},
		{"x", "hook", `app/templates/bye.yaml: row "row": form "web", resource "app-job-bye": the chart has a hook pre-delete in another namespace than the node's`},
		{"x", "name", `app/templates/UPPER.yaml: row "row": form "web", resource "app-service-UPPER", metadata.name: name "UPPER" isn't valid in Kubernetes`},
		{"x", "taken", `app/templates/acme.yaml: row "row" renders ServiceAccount/default/acme (form "web", resource "app-serviceaccount-acme"), which row "acme" (form "web", resource "account") renders too`},
		{"X", "", `form "web", chart "app", releaseName: row "row": releaseName "X" isn't valid in Kubernetes`},
		{strings.Repeat("x", 54), "", `has 54 characters, at most 53 are allowed, because Helm allows no longer ones`},
		{"acme", "", `renders ConfigMap/default/acme (form "web", resource "app-configmap"), which row "acme" (form "web", a chart) renders too`},
	} {
		t.Run(c.a, func(t *testing.T) {
			got, run, err := renderCharts(t, text, charts, render.Options{}, record{"id": "acme", "a": "acme", "b": "good"}, record{"id": "row", "a": c.a, "b": c.b})
			if err != nil || run.Err() == nil || !strings.Contains(run.Err().Error(), c.want) || run.Report().FailedNodes == 0 || strings.Contains(got, "row") {
				t.Errorf("%q %q: %v, %v, want %s\n%s", c.a, c.b, err, run.Err(), c.want, got)
			}
		})
	}
}

// TestChartTemplates wants the digest of a chart's objects to change with the chart, with what
// the form says of it, and with columns behind its variables, and with nothing else.
func TestChartTemplates(t *testing.T) {
	program := func(text string) *render.Program {
		in, err := loadFile(t, text)
		if err != nil {
			t.Fatal(err)
		}
		return compileAll(t, in, render.Options{Charts: chartsOf(settings)})[0]
	}
	if hooks := program(chartForm("- {id: app, path: app}")).Hooks(); len(hooks) != 2 || hooks[0].ID != "app-job" || !hooks[0].Prefix || hooks[1].Kind != "Pod" || len(hooks[0].Namespace) > 0 {
		t.Errorf("hooks %v: Jobs and Pods of the chart may be hooks, in the namespace of the node", hooks)
	}
	const chart = `- {id: app, path: app, values: {a: "{{ .a }}"}}`
	base := program(chartForm(chart))
	if fields := base.Fields("app-configmap"); len(fields) != 1 || len(fields[0].Path) != 0 || strings.Join(fields[0].Columns, " ") != "a id" {
		t.Errorf("fields %v, and columns a and id may feed any field", fields)
	}
	for _, c := range []struct {
		what, text string
		same       bool
	}{
		{"a resource of the form", strings.Replace(chartForm(chart), "ServiceAccount}", "ServiceAccount, automountServiceAccountToken: false}", 1), true},
		{"the chart", chartForm(strings.Replace(chart, "path: app", "path: other", 1)), false},
		{"a value", chartForm(strings.Replace(chart, "a: \"", "b: \"", 1)), false},
		{"a column", strings.Replace(chartForm(chart), "{a: a, b: b}", "{a: b, b: a}", 1), false},
		{"a default", chartForm(chart) + "  defaults: [{match: {kind: ConfigMap}, deletionPolicy: Retain}]\n", false},
	} {
		t.Run(c.what, func(t *testing.T) {
			other := program(c.text)
			const id = "app-configmap-settings"
			same, parts := base.Template(id) == other.Template(id), other.SameAt(base.Parts(), id, []string{"data"})
			if same != c.same || parts != c.same || other.MadeParts(base.Parts(), id) != c.same || base.Template(id) == "" {
				t.Errorf("with another text of %s, the digest is the same: %v, and its parts: %v", c.what, same, parts)
			}
		})
	}
}

// TestChartSecrets wants objects of a chart that a secret column feeds to be secret, and the
// secret to stay out of the release's name.
func TestChartSecrets(t *testing.T) {
	hidden := strings.Replace(hubYAML, "  extraValueMappings:", "  secretColumns: [a]\n  extraValueMappings:", 1)
	text := func(chart string) string { return strings.Replace(chartForm(chart), hubYAML, hidden, 1) }
	in, err := loadFile(t, text("- {id: app, path: app, values: {a: \"{{ .a }}\"}}\n- {id: other, path: app, values: {b: \"{{ .b }}\"}}"))
	if err != nil {
		t.Fatal(err)
	}
	p := compileAll(t, in, render.Options{Charts: chartsOf(func(r release) ([]form.ChartObject, lynq.Problems) {
		if r.secret != (r.chart == "app") {
			t.Errorf("chart %s gets secret values: %v", r.chart, r.secret)
		}
		return []form.ChartObject{object("ConfigMap", r.chart, "")}, nil
	})})[0]
	n, problems := p.Node(record{"id": "acme", "a": "secret", "b": "b"}.row(in.Hubs[0], 2))
	if len(problems) > 0 || len(n.Objects) != 3 {
		t.Fatal(problems, n)
	}
	for _, o := range n.Objects {
		if want := strings.HasPrefix(o.ID, "app-"); o.Sensitive != want {
			t.Errorf("%s is secret: %v, want %v", o.ID, o.Sensitive, want)
		}
	}
	showing := compileAll(t, in, render.Options{Charts: chartsOf(func(r release) ([]form.ChartObject, lynq.Problems) {
		return []form.ChartObject{object("ConfigMap", strings.Trim(fmt.Sprint(r.values["a"]), "<>"), "")}, nil
	})})[0]
	if _, problems := showing.Node(record{"id": "acme", "a": "secretive", "b": "b"}.row(in.Hubs[0], 2)); len(problems) != 1 || !strings.HasSuffix(problems[0].What, `chart "app": the name of an object shows the value of secret column a, and every output shows names`) {
		t.Error(problems)
	}
	for kind, want := range map[string]int{"ConfigMap": 1, "Secret": 0} {
		t.Run(kind, func(t *testing.T) {
			strict := compileAll(t, in, render.Options{Strict: true, Charts: chartsOf(func(r release) ([]form.ChartObject, lynq.Problems) {
				return []form.ChartObject{{File: "app/templates/a.yaml", Text: fmt.Sprintf("{apiVersion: v1, kind: %s, metadata: {name: %s}, data: {a: %s}}", kind, r.chart, base64.StdEncoding.EncodeToString([]byte("secretive")))}}, nil
			})})[0]
			_, problems := strict.Node(record{"id": "acme", "a": "secretive", "b": "b"}.row(in.Hubs[0], 2))
			if len(problems) != want || want > 0 && !strings.Contains(problems[0].What, `resource "app-configmap-app": it shows the value of secret column a outside a Secret`) {
				t.Errorf("%s: %v", kind, problems)
			}
		})
	}
	named, err := loadFile(t, text(`- {id: app, path: app, releaseName: "{{ .a }}"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, problems := render.Compile(named.Forms[0], named.Hubs[0], render.Options{Charts: chartsOf(settings)}); len(problems) != 1 || !strings.Contains(problems[0].What, "secret column a, and every output shows names") {
		t.Error(problems)
	}
}

// TestChartWorkers wants no more rows at a time than the user allows.
func TestChartWorkers(t *testing.T) {
	var now, most atomic.Int32
	records := make([]record, 200)
	for i := range records {
		records[i] = record{"id": fmt.Sprintf("r%03d", i)}
	}
	in, err := loadFile(t, chartForm("- {id: app, path: app}\n"))
	if err != nil {
		t.Fatal(err)
	}
	programs := compileAll(t, in, render.Options{Charts: chartsOf(func(r release) ([]form.ChartObject, lynq.Problems) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		runtime.Gosched()
		return settings(r)
	})})
	if _, run, err := runAll(t, programs, records, render.Settings{Workers: 1}); err != nil || run.Err() != nil || most.Load() != 1 {
		t.Errorf("%v, %v: %d rows at a time, want 1", err, run.Err(), most.Load())
	}
}

// TestLargeChartObject wants an object that no server takes to be a problem, in all formats,
// and none where only the estimate of its size is too large.
func TestLargeChartObject(t *testing.T) {
	for size, want := range map[int]bool{400 << 10: false, 3<<19 + 1: true} {
		for _, format := range []render.Format{render.YAML, render.JSON} {
			in, err := loadFile(t, chartForm("- {id: app, path: app}\n"))
			if err != nil {
				t.Fatal(err)
			}
			programs := compileAll(t, in, render.Options{Charts: chartsOf(func(release) ([]form.ChartObject, lynq.Problems) {
				text := "apiVersion: example.org/v1\nkind: Large\nmetadata: {name: x}\nspec: {text: " + strings.Repeat("a", size) + "}\n"
				return []form.ChartObject{{File: "app/templates/x.yaml", Text: text}}, nil
			})})
			_, run, err := runAll(t, programs, []record{{"id": "acme"}}, render.Settings{Format: format})
			if err != nil || (run.Err() != nil) != want || want && !strings.Contains(run.Err().Error(), "it is too large") {
				t.Errorf("%d bytes, format %v: %v, %.200v", size, format, err, run.Err())
			}
		}
	}
}

// TestUnreadCharts wants the lines of templates whose results aren't YAML, if the chart knows
// them.
func TestUnreadCharts(t *testing.T) {
	for text, want := range map[string]string{
		"kind: [":      `app/templates/x.yaml:7: form "web", chart "app": row "acme": it isn't YAML`,
		"a: 1\na: 2\n": `app/templates/x.yaml: row "acme": key "a" appears twice`,
	} {
		t.Run(text, func(t *testing.T) {
			var checks []bool
			_, run, err := renderCharts(t, chartForm("- {id: app, path: app}\n"), func(r release) ([]form.ChartObject, lynq.Problems) {
				checks = append(checks, r.check)
				if r.check && text == "kind: [" {
					return nil, lynq.Problems{{Pos: lynq.Pos{File: "app/templates/x.yaml", Line: 7}, What: "it isn't YAML"}}
				}
				return []form.ChartObject{{File: "app/templates/x.yaml", Text: text}}, nil
			}, render.Options{}, record{"id": "acme"})
			if err != nil || run.Err() == nil || !strings.Contains(run.Err().Error(), want) || !slices.Equal(checks, []bool{false, true}) {
				t.Errorf("%s: %v, %v, asked %v, want %s", text, err, run.Err(), checks, want)
			}
		})
	}
}

// BenchmarkChart renders a chart of eight objects for a row, without Helm's own part.
func BenchmarkChart(b *testing.B) {
	const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: %[1]s-web
  labels: {app.kubernetes.io/name: web, app.kubernetes.io/instance: %[1]s, app.kubernetes.io/managed-by: Helm, helm.sh/chart: web-1.0.0}
spec:
  replicas: 2
  selector:
    matchLabels: {app.kubernetes.io/name: web, app.kubernetes.io/instance: %[1]s}
  template:
    metadata:
      labels: {app.kubernetes.io/name: web, app.kubernetes.io/instance: %[1]s}
    spec:
      serviceAccountName: %[1]s-web
      containers:
        - name: web
          image: "registry.example.com/web:1.2.3"
          ports: [{name: http, containerPort: 8080, protocol: TCP}]
          livenessProbe: {httpGet: {path: /, port: http}}
          readinessProbe: {httpGet: {path: /, port: http}}
          resources: {limits: {cpu: 100m, memory: 128Mi}, requests: {cpu: 100m, memory: 128Mi}}
          env: [{name: TENANT, value: %[1]s}]
`
	in, err := loadFile(b, chartForm(`- {id: app, path: app, values: {a: "{{ .a }}"}}`))
	if err != nil {
		b.Fatal(err)
	}
	p := compileAll(b, in, render.Options{Charts: chartsOf(func(r release) ([]form.ChartObject, lynq.Problems) {
		objects := make([]form.ChartObject, 8)
		for i := range objects {
			objects[i] = form.ChartObject{File: "app/templates/x.yaml", Text: fmt.Sprintf(deployment, fmt.Sprintf("%s-%d", r.name, i))}
		}
		return objects, nil
	})})[0]
	row := record{"id": "acme", "a": "x"}.row(in.Hubs[0], 2)
	for b.Loop() {
		if n, problems := p.Node(row); len(problems) > 0 || len(n.Objects) != 9 {
			b.Fatal(problems)
		}
	}
}
