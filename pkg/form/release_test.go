package form_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// chartInputs loads a form with a chart, which has these fields, and with these resources.
func chartInputs(t *testing.T, chart, resources string) (*form.Form, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "web.yaml")
	text := `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: crm}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: crm
  charts:
  - {` + chart + `}
` + resources
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var none *form.Memory
	in, err := none.Load(noCharts{}, []string{name}, false, strings.NewReader(""))
	if len(in.Forms) == 0 {
		t.Fatal(err)
	}
	return in.Forms[0], err
}

// noCharts opens charts without any content.
type noCharts struct{ form.Builder }

func (noCharts) Open(*form.Chart) (form.OpenedChart, lynq.Problems) {
	return form.OpenedChart{Digest: "x", Kinds: []form.ChartKind{{"v1", "ConfigMap"}, {"", "Service"}},
		InstallOrder: []string{"ServiceAccount", "Secret", "ConfigMap", "PersistentVolumeClaim", "Service", "Pod", "Deployment", "Job"}}, nil
}

func (noCharts) Failed() error { return nil }

// described is what tests compare of a resource.
func described(resources []*form.Resource) []string {
	lines := make([]string, len(resources))
	for i, r := range resources {
		p := r.Policy
		lines[i] = strings.Join(strings.Fields(fmt.Sprintf("%s %s/%s in %q %s %s %s wave %d %v", r.ID, r.APIVersion, r.Kind, r.TargetNamespace.Text, p.Creation, p.Deletion, p.RunOn, p.ApplyOrder, r.DependIDs)), " ")
	}
	return lines
}

func object(apiVersion, kind, name string, annotations ...string) form.ChartObject {
	text := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n", apiVersion, kind, name)
	if len(annotations) > 0 {
		text += "  annotations:\n"
		for _, a := range annotations {
			text += "    " + a + "\n"
		}
	}
	return form.ChartObject{File: "app/templates/x.yaml", Text: text}
}

// documents reads objects, which must be YAML.
func documents(t *testing.T, objects ...form.ChartObject) []form.ChartDocument {
	t.Helper()
	all, problems := form.ReadChart(objects)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return all
}

// TestReleaseResources wants ids that rows share, policies from Helm's annotations, and
// namespaces for objects without one.
func TestReleaseResources(t *testing.T) {
	f, err := chartInputs(t, `id: app, path: app, dependIds: [account], defaults: [{match: {kind: ConfigMap}, deletionPolicy: Delete}]`, `  serviceAccounts:
  - {id: account, nameTemplate: "{{ .uid }}", spec: {apiVersion: v1, kind: ServiceAccount}}
  defaults:
  - {match: {kind: Service}, deletionPolicy: Retain}
`)
	if err != nil {
		t.Fatal(err)
	}
	hook, keep := "helm.sh/hook: ", "helm.sh/resource-policy: keep"
	next, problems := f.WithReleases([]form.Release{{Chart: f.Charts[0], Name: "acme", Namespace: "ns", Documents: documents(t,
		object("v1", "Service", "acme"),
		object("apps/v1", "Deployment", "acme-web"),
		object("apps/v1", "Deployment", "old-acme-web"),
		object("apps/v1", "Deployment", "acmeish"),
		object("v1", "PersistentVolumeClaim", "data", keep),
		object("v1", "ConfigMap", "kept", keep),
		object("v1", "Secret", "same"),
		form.ChartObject{File: "y.yaml", Text: "apiVersion: v1\nkind: Secret\nmetadata: {name: same, namespace: other}\n"},
		object("v1", "ConfigMap", "named", "lynq.sh/resource-id: mine"),
		object("batch/v1", "Job", "acme-migrate", hook+"pre-install,pre-upgrade", `helm.sh/hook-weight: "-5"`),
		object("v1", "ServiceAccount", "acme-migrate", hook+"pre-install", `helm.sh/hook-weight: "-9"`),
		object("batch/v1", "Job", "acme-seed", hook+"post-install"),
		object("batch/v1", "Job", "acme-bye", hook+"pre-delete"),
		object("batch/v1", "Job", "acme-upgrade", hook+"post-upgrade"),
		object("v1", "Pod", "acme-test", hook+"test"),
	)}})
	want := []string{
		`account v1/ServiceAccount in "" WhenNeeded Delete wave 0 []`,
		`app-serviceaccount-migrate v1/ServiceAccount in "ns" WhenNeeded Delete wave -20009 [account]`,
		`app-job-migrate batch/v1/Job in "ns" Once Delete wave -20005 [account]`,
		`app-secret-same v1/Secret in "ns" WhenNeeded Delete wave 0 [account]`,
		`app-secret-same-other v1/Secret in "" WhenNeeded Delete wave 0 [account]`,
		`app-configmap-kept v1/ConfigMap in "ns" WhenNeeded Delete wave 0 [account]`,
		`mine v1/ConfigMap in "ns" WhenNeeded Delete wave 0 [account]`,
		`app-persistentvolumeclaim-data v1/PersistentVolumeClaim in "ns" WhenNeeded Retain wave 0 [account]`,
		`app-service v1/Service in "ns" WhenNeeded Retain wave 0 [account]`,
		`app-deployment-web apps/v1/Deployment in "ns" WhenNeeded Delete wave 0 [account]`,
		`app-deployment-old-web apps/v1/Deployment in "ns" WhenNeeded Delete wave 0 [account]`,
		`app-deployment-acmeish apps/v1/Deployment in "ns" WhenNeeded Delete wave 0 [account]`,
		`app-job-bye batch/v1/Job in "ns" WhenNeeded Delete Delete wave 0 []`,
		`app-job-seed batch/v1/Job in "ns" Once Delete wave 20000 [account]`,
	}
	if diff := cmp.Diff(want, described(next.Resources)); diff != "" || len(problems) > 0 {
		t.Errorf("%v (-want +got):\n%s", problems, diff)
	}
	if len(f.Resources) != 1 {
		t.Errorf("the form itself has %d resources now", len(f.Resources))
	}
	for _, r := range next.Resources {
		if a := r.Manifest.Field("metadata").Field("annotations"); a.Field("helm.sh/hook") != nil || a.Field("helm.sh/hook-weight") != nil {
			t.Errorf("%s still is a hook of Helm, and Argo CD would run it", r.ID)
		}
	}
}

// TestReleaseProblems wants each object that can't be a resource to name its template.
func TestReleaseProblems(t *testing.T) {
	f, err := chartInputs(t, `id: app, path: app`, "")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"kind: ConfigMap":                 `app/templates/x.yaml: form "web", resource "app-configmap": apiVersion is missing (add it)`,
		"apiVersion: v1\nkind: ConfigMap": `app/templates/x.yaml: form "web", resource "app-configmap": the object has no name (add metadata.name)`,
		"{apiVersion: operator.lynq.sh/v1, kind: LynqForm, metadata: {name: x}}":                                              `app/templates/x.yaml: form "web", chart "app": a LynqForm is an input of lynqctl, and not an object`,
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: x, labels: {lynq.sh/hub: other}}}":                                `app/templates/x.yaml: form "web", resource "app-configmap-x": key "lynq.sh/hub" of labels is set by lynqctl (remove it)`,
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}": `app/templates/x.yaml: form "web": id "app-configmap-a" appears twice`,
		"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a.b}}":                        `app/templates/x.yaml: form "web", chart "app": the template makes a CustomResourceDefinition, which all tenants of a cluster share (install it once with kubectl apply --server-side, `,
	} {
		t.Run(text, func(t *testing.T) {
			_, problems := f.WithReleases([]form.Release{{Chart: f.Charts[0], Name: "acme", Namespace: "ns", Documents: documents(t, form.ChartObject{File: "app/templates/x.yaml", Text: text})}})
			if len(problems) == 0 || !strings.HasPrefix(problems[0].String(), want) || strings.Contains(problems[0].String(), "x.yaml:1") {
				t.Errorf("%s: %v, want %s", text, problems, want)
			}
		})
	}
	skipped := *f.Charts[0]
	skipped.SkipCRDs = true
	next, problems := f.WithReleases([]form.Release{{Chart: &skipped, Name: "acme", Documents: documents(t, object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "a.b"))}})
	if len(problems) > 0 || len(next.Resources) != len(f.Resources) {
		t.Errorf("skipCRDs: %v, %v", described(next.Resources), problems)
	}
}

// TestReadChart wants each result that isn't YAML to name its template, but no line of it.
func TestReadChart(t *testing.T) {
	for text, want := range map[string]string{
		"kind: [":    `app/templates/x.yaml: not YAML`,
		"a: 1\na: 2": `app/templates/x.yaml: key "a" appears twice`,
		"{apiVersion: v1, kind: Secret, metadata: {name: x, annotations: {helm.sh/hook: pre-delete, helm.sh/hook: x}}}": `app/templates/x.yaml: key "helm.sh/hook" appears twice`,
	} {
		t.Run(text, func(t *testing.T) {
			_, problems := form.ReadChart([]form.ChartObject{object("v1", "Service", "acme"), {File: "app/templates/x.yaml", Text: text}})
			if len(problems) != 1 || !strings.HasPrefix(problems[0].String(), want) || strings.Contains(problems[0].String(), "line") {
				t.Errorf("%s: %v, want %s", text, problems, want)
			}
		})
	}
}

// TestInstallOrder wants Helm's order of kinds, then hooks by their weights and names, and none
// with an event that Helm doesn't know.
func TestInstallOrder(t *testing.T) {
	hook := func(name, events, weight string) form.ChartObject {
		return object("batch/v1", "Job", name, "helm.sh/hook: "+events, fmt.Sprintf("helm.sh/hook-weight: %q", weight))
	}
	var names []string
	for _, d := range form.InInstallOrder([]string{"Service", "Deployment"}, documents(t,
		hook("last", "pre-install", "20000"), hook("later", "pre-install", "15000"), hook("b", "post-install", "0"), hook("a", "pre-install, Test", "0"),
		hook("first", "pre-delete", "-1"), hook("unknown", "unknown", "0"), hook("half", "pre-install,unknown", "0"), hook("t", "test-success", "0"),
		object("x/v1", "Zebra", "z2"), object("x/v1", "Ant", "ant"), object("x/v1", "Zebra", "z1"), object("apps/v1", "Deployment", "d"), object("v1", "Service", "s"),
		form.ChartObject{File: "x", Text: "# nothing\n"},
	)) {
		_, name, _ := strings.Cut(d.Text, "  name: ")
		name, _, _ = strings.Cut(name, "\n")
		names = append(names, name)
	}
	want := []string{"s", "d", "ant", "z2", "z1", "first", "a", "b", "t", "later", "last"}
	if !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}

// TestCharts wants each wrong chart to be one error in the form.
func TestCharts(t *testing.T) {
	for chart, want := range map[string]string{
		`path: app`:                           `web.yaml:14: form "web": spec.charts[0].id is missing (add it)`,
		`id: app`:                             `web.yaml:14: form "web", chart "app": spec.charts[0].path is missing (add it)`,
		`id: app, path: ../app`:               `must be in the directory of the form's file`,
		`id: app, path: /app`:                 `must be in the directory of the form's file`,
		`id: app, path: "https://x/app.tgz"`:  `spec.charts[0].path must be a path; found an address (download the file, and name it, so that each run has the same one; helm pull downloads charts)`,
		`id: app, path: "oci://x/app:1.2.0"`:  `spec.charts[0].path: an address must have a digest, so that each run has the same chart (add @ and the digest, which this command prints: helm pull oci://x/app --version 1.2.0)`,
		`id: app, path: "oci://x/{{ .uid }}"`: `spec.charts[0].path may not be a template`,
		`id: app, path: app, valuesFiles: ["oci://x/app@sha256:` + strings.Repeat("0a", 32) + `"]`: `spec.charts[0].valuesFiles[0] must be a path; found an address`,
		`id: app, path: "{{ .plan }}"`:                                                        `spec.charts[0].path may not be a template`,
		`id: app, path: app, valuesFiles: [../v]`:                                             `spec.charts[0].valuesFiles[0] must be in the directory`,
		`id: app, path: app, values: [1]`:                                                     `spec.charts[0].values must be a mapping, found a list`,
		`id: app, path: app, values: {"{{ a }}": 1}`:                                          `key "{{ a }}" has a template (only values can be templates)`,
		`id: app, path: app, dependIds: [x]`:                                                  `chart "app": depends on "x", but this form has no resource with that id`,
		`id: app, path: app, version: "1"`:                                                    `unknown field "spec.charts[0].version"`,
		`id: app, path: app, defaults: [{match: {kind: ConfigMaps}, deletionPolicy: Retain}]`: `web.yaml:14: form "web", chart "app": spec.charts[0].defaults[0]: no template of the chart has kind ConfigMaps (did you mean "ConfigMap"?)`,
		`id: app, path: app, includeWhen: maybe`:                                              `spec.charts[0].includeWhen must be a template that gives true or false`,
		"id: app, path: app}\n  - {id: app, path: app":                                        `id "app" appears twice, first on line 14`,
	} {
		t.Run(chart, func(t *testing.T) {
			_, err := chartInputs(t, chart, "")
			if err == nil || !strings.Contains(err.Error(), want) || slices.Contains(strings.Split(err.Error(), "\n"), "") {
				t.Errorf("%s: %v, want %s", chart, err, want)
			}
		})
	}
}

// pastCharts remembers of each chart whether its form is an earlier one.
type pastCharts struct {
	noCharts
	past []bool
}

func (p *pastCharts) Open(c *form.Chart) (form.OpenedChart, lynq.Problems) {
	p.past = append(p.past, c.Past)
	return p.noCharts.Open(c)
}

// TestChartAddress wants no files beside the form for a chart in a registry, except its values.
func TestChartAddress(t *testing.T) {
	name := filepath.Join(t.TempDir(), "web.yaml")
	hub, web := `{apiVersion: operator.lynq.sh/v1, kind: LynqHub, metadata: {name: crm}, spec: {source: {type: csv, csv: {path: rows.csv}}, valueMappings: {uid: id}}}`,
		`{apiVersion: operator.lynq.sh/v1, kind: LynqForm, metadata: {name: web}, spec: {hubId: crm, charts: [{id: app, path: "oci://ghcr.io/acme/web:1.2.0@sha256:`+strings.Repeat("0a", 32)+`"%s}]}}`
	if err := os.WriteFile(name, fmt.Appendf(nil, hub+"\n---\n"+web, ", valuesFiles: [eu.yaml]"), 0o600); err != nil {
		t.Fatal(err)
	}
	var none *form.Memory
	bases := &pastCharts{}
	in, err := none.Load(bases, []string{name}, false, strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	// Nothing is downloaded to find how a form changed.
	earlier := form.Versions(name, []byte(fmt.Sprintf(hub+"\n---\n"+web, "")))
	if f := in.Forms[0]; len(earlier) != 1 || f.Version(earlier[0], name, nil) == nil || !slices.Equal(bases.past, []bool{false, true}) {
		t.Errorf("%d versions, past %v", len(earlier), bases.past)
	}
	if paths, dirs := in.Beside(); !slices.Equal(paths, []string{filepath.Join(filepath.Dir(name), "eu.yaml")}) || len(dirs) > 0 {
		t.Errorf("%v, %v", paths, dirs)
	}
	// Such a form may come from standard input, unless it has files.
	for values, want := range map[string]string{"": "", ", valuesFiles: [eu.yaml]": "a form from standard input has no directory"} {
		t.Run(values, func(t *testing.T) {
			_, err := none.Load(noCharts{}, []string{"-"}, false, strings.NewReader(fmt.Sprintf(hub+"\n---\n"+web, values)))
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", values, err)
			}
		})
	}
}

// TestChartKinds wants resources that stand for the kinds of a chart, for whoever grants rights.
func TestChartKinds(t *testing.T) {
	f, err := chartInputs(t, `id: app, path: app, namespace: "{{ .uid }}"`, "")
	if err != nil {
		t.Fatal(err)
	}
	f.Charts[0].Opened.Kinds = append(f.Charts[0].Opened.Kinds, form.ChartKind{Kind: "Ingress"}, form.ChartKind{APIVersion: "batch/v1", Kind: "Job"}, form.ChartKind{Kind: "Widget"})
	want := []string{
		`app-configmap v1/ConfigMap in "{{ .uid }}" WhenNeeded Delete wave 0 []`,
		`app-configmap v1/ConfigMap in "{{ .uid }}" WhenNeeded Retain wave 0 []`,
		`app-service v1/Service in "{{ .uid }}" WhenNeeded Delete wave 0 []`,
		`app-service v1/Service in "{{ .uid }}" WhenNeeded Retain wave 0 []`,
		`app-ingress networking.k8s.io/v1/Ingress in "{{ .uid }}" WhenNeeded Delete wave 0 []`,
		`app-ingress networking.k8s.io/v1/Ingress in "{{ .uid }}" WhenNeeded Retain wave 0 []`,
		`app-job batch/v1/Job in "{{ .uid }}" WhenNeeded Delete wave 0 []`,
		`app-job batch/v1/Job in "{{ .uid }}" WhenNeeded Retain wave 0 []`,
		`app-job batch/v1/Job in "{{ .uid }}" WhenNeeded Delete Delete wave 0 []`,
	}
	if diff := cmp.Diff(want, described(f.WithChartKinds().Resources)); diff != "" {
		t.Error(diff)
	}
}
