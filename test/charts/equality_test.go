package charts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/cli/values"
	release "helm.sh/helm/v4/pkg/release/v1"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/internal/chart/helm"
	"github.com/lynqctl/lynqctl/internal/chart/wire"
	"github.com/lynqctl/lynqctl/pkg/form"
)

const kubeVersion = "1.33.2"

// object is one that Helm or lynqctl-chart renders.
type object struct{ source, text string }

// withHelm renders with Helm's own action.
func withHelm(t *testing.T, dir, path string, valuesFiles []string) []object {
	t.Helper()
	chart, err := loader.Load(filepath.Join(dir, path))
	if err != nil {
		t.Fatal(err)
	}
	install := action.NewInstall(action.NewConfiguration())
	install.DryRunStrategy = action.DryRunClient
	install.ReleaseName, install.Namespace = "acme", "tenants"
	install.APIVersions = common.VersionSet{"monitoring.example/v1"}
	if install.KubeVersion, err = common.ParseKubeVersion(kubeVersion); err != nil {
		t.Fatal(err)
	}
	options := values.Options{}
	for _, file := range valuesFiles {
		options.ValueFiles = append(options.ValueFiles, filepath.Join(dir, file))
	}
	given, err := options.MergeValues(nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := install.Run(chart, given)
	if err != nil {
		t.Fatal(err)
	}
	done, ok := result.(*release.Release)
	if !ok {
		t.Fatalf("Helm returns a %T", result)
	}
	return inOrder(t, done)
}

// inOrder returns the objects of a release, its hooks last.
func inOrder(t *testing.T, r *release.Release) []object {
	t.Helper()
	var all []object
	for i, part := range strings.Split("\n"+r.Manifest, "\n---\n# Source: ") {
		source, text, _ := strings.Cut(part, "\n")
		var content any
		if err := yaml.Unmarshal([]byte(text), &content); err != nil {
			t.Fatal(err)
		}
		if i > 0 && content != nil {
			all = append(all, object{source, strings.TrimSpace(text)})
		}
	}
	slices.SortStableFunc(r.Hooks, func(a, b *release.Hook) int {
		return cmp.Or(cmp.Compare(a.Weight, b.Weight), strings.Compare(a.Name, b.Name))
	})
	for _, h := range r.Hooks {
		if !slices.Equal(h.Events, []release.HookEvent{release.HookTest}) {
			all = append(all, object{h.Path, strings.TrimSpace(h.Manifest)})
		}
	}
	return all
}

// withLynqctl renders with values in files, or in the request.
func withLynqctl(t *testing.T, open wire.Open, given json.RawMessage) []object {
	t.Helper()
	charts := helm.New()
	open.KubeVersion, open.APIVersions = kubeVersion, []string{"monitoring.example/v1"}
	o, problems := charts.Open(t.Context(), open)
	if len(problems) > 0 {
		t.Fatalf("open: %+v", problems)
	}
	r, problems := charts.Render(t.Context(), wire.Render{Chart: o.Chart, ReleaseName: "acme", Namespace: "tenants", Values: given})
	if len(problems) > 0 {
		t.Fatalf("render: %+v", problems)
	}
	return installed(t, o, r)
}

// installed returns what a release has, in the order in which lynqctl installs it.
func installed(t *testing.T, o *wire.Opened, r *wire.Rendered) []object {
	t.Helper()
	results := make([]form.ChartObject, len(r.Objects))
	for i, x := range r.Objects {
		results[i] = form.ChartObject{File: x.File, Text: x.Text}
	}
	documents, unread := form.ReadChart(results)
	if len(unread) > 0 {
		t.Fatalf("read: %v", unread)
	}
	var all []object
	for _, d := range form.InInstallOrder(o.InstallOrder, documents) {
		all = append(all, object{d.File, strings.TrimSpace(d.Text)})
	}
	return all
}

// compare wants the same objects in the same order. Helm names a template by its chart's
// name, and lynqctl by its file.
func compare(t *testing.T, what string, got, want []object) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d objects, want %d:\n%v\n%v", what, len(got), len(want), got, want)
	}
	for i := range got {
		_, g, _ := strings.Cut(got[i].source, "templates/")
		_, w, _ := strings.Cut(want[i].source, "templates/")
		if g != w || g == "" || got[i].text != want[i].text {
			t.Errorf("%s: object %d of %s:\n%s\nHelm has %s:\n%s", what, i, got[i].source, got[i].text, want[i].source, want[i].text)
		}
	}
}

// unpack writes the files of an archive to a directory.
func unpack(t *testing.T, file string) string {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range archive.Files {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestEquality renders charts of many shapes as directories and as archives, with values in
// files and in requests.
func TestEquality(t *testing.T) {
	files, err := filepath.Glob("../../internal/chart/helm/testdata/charts/*.txtar")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d charts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			dir := unpack(t, file)
			chart, err := loader.Load(filepath.Join(dir, "app"))
			if err != nil {
				t.Fatal(err)
			}
			saved, err := chartutil.Save(chart, dir)
			if err != nil {
				t.Fatal(err)
			}
			equality(t, dir, filepath.Base(saved))
		})
	}
}

func equality(t *testing.T, dir, archive string) {
	t.Helper()
	rendered := map[string]bool{}
	for i := 1; i <= 3; i++ {
		name := fmt.Sprintf("values/%d.yaml", i)
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		given, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		want := withHelm(t, dir, "app", []string{name})
		for _, path := range []string{"app", archive} {
			compare(t, path+" with "+name, withLynqctl(t, wire.Open{Dir: dir, Path: path}, given), want)
			compare(t, path+" with the file "+name, withLynqctl(t, wire.Open{Dir: dir, Path: path, ValuesFiles: []string{name}}, nil), want)
		}
		rendered[fmt.Sprint(want)] = true
	}
	if len(rendered) < 2 {
		t.Error("the values change nothing")
	}
}

// TestCreated renders the chart that helm create makes.
func TestCreated(t *testing.T) {
	dir := t.TempDir()
	if _, err := chartutil.Create("app", dir); err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{
		"replicaCount: 3\n",
		"ingress: {enabled: true, className: nginx}\nautoscaling: {enabled: true, targetMemoryUtilizationPercentage: 70}\nserviceAccount: {create: false}\n",
		"image: {tag: 1.2.3}\nfullnameOverride: web\nresources: {limits: {cpu: 1}}\nservice: {type: NodePort, port: 8080}\npodAnnotations: {a: b}\nlivenessProbe: null\n",
	} {
		name := fmt.Sprintf("%d.yaml", i)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		given, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		want := withHelm(t, dir, "app", []string{name})
		compare(t, text, withLynqctl(t, wire.Open{Dir: dir, Path: "app"}, given), want)
		all := []string{"0.yaml", name}
		compare(t, "two files", withLynqctl(t, wire.Open{Dir: dir, Path: "app", ValuesFiles: all}, nil), withHelm(t, dir, "app", all))
	}
}
