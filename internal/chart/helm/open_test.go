package helm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// TestOpen wants the name, all files that were read, and warnings.
func TestOpen(t *testing.T) {
	files := simple(map[string]string{
		"values.yaml": "a: 1\n", ".helmignore": "*.bak\n", "x.bak": "ignored", "templates/_h.tpl": "", "templates/.hidden": "x",
		"templates/tests/t.yaml":   "kind: Pod\nmetadata:\n  annotations:\n    \"helm.sh/hook\": post-upgrade\n",
		"charts/sub/Chart.yaml":    "name: sub\nversion: 2.0.0\n",
		"charts/sub/templates/t.y": "annotations: {helm.sh/hook: post-delete}",
	})
	files["app/Chart.yaml"] += "deprecated: true\n"
	files["eu/values.yaml"], files["other.txt"] = "b: 2\n", "not read"
	dir := write(t, files)
	o := opening(t, New(), wire.Open{Dir: dir, Path: "app/", ValuesFiles: []string{"eu/values.yaml"}})
	want := []string{
		"app/.helmignore", "app/Chart.yaml", "app/charts/sub/Chart.yaml", "app/charts/sub/templates/t.y",
		"app/templates/_h.tpl", "app/templates/tests/t.yaml", "app/values.yaml", "eu/values.yaml",
	}
	if o.Name != "app" || o.Version != "1.0.0" || !slices.Equal(o.Files, want) {
		t.Errorf("%+v, want the files %v", o, want)
	}
	places := map[string]int{}
	for _, w := range o.Warnings {
		places[w.File] = w.Line
	}
	if len(o.Warnings) != 3 || places["app/templates/tests/t.yaml"] != 4 || places["app/charts/sub/templates/t.y"] != 1 {
		t.Errorf("warnings %+v", o.Warnings)
	}
}

// TestDigest wants another digest for each change of a name, a content or the order of files.
func TestDigest(t *testing.T) {
	open := func(extra map[string]string, values ...string) string {
		files := simple(extra)
		files["1.yaml"], files["2.yaml"], files["other"] = "a: 1\n", "a: 2\n", "x"
		return opening(t, New(), wire.Open{Dir: write(t, files), Path: "app", ValuesFiles: values}).Digest
	}
	seen := map[string]int{}
	for i, digest := range []string{
		open(nil), open(map[string]string{"a": "bc"}), open(map[string]string{"ab": "c"}), open(map[string]string{"a": "b"}),
		open(nil, "1.yaml"), open(nil, "1.yaml", "2.yaml"), open(nil, "2.yaml", "1.yaml"), open(map[string]string{"templates/a": "bc"}),
	} {
		t.Run(digest, func(t *testing.T) {
			if other, ok := seen[digest]; ok || len(digest) != 64 {
				t.Errorf("%d and %d: %s", other, i, digest)
			}
			seen[digest] = i
		})
	}
	if _, ok := seen[open(nil, "1.yaml")]; !ok {
		t.Error("the same files have another digest")
	}
}

// TestUnusableCharts wants one problem for each chart that can't be used, with what to do.
func TestUnusableCharts(t *testing.T) {
	chart := func(more string, files map[string]string) map[string]string {
		all := simple(files)
		all["app/Chart.yaml"] += more
		return all
	}
	for want, files := range map[string]map[string]string{
		"app/Chart.yaml|app is a library chart|type application":                            chart("type: library\n", nil),
		"app/Chart.yaml|charts/ lacks db, cache|helm dependency build app":                  chart("dependencies: [{name: db, version: 1.x}, {name: cache, version: 1.x, condition: cache.enabled}]\n", nil),
		"app/Chart.yaml|the chart needs Kubernetes >=1.99, and this is v1.33":               chart("kubeVersion: '>=1.99'\n", nil),
		"app/crds/a.yaml|CustomResourceDefinition|kubectl apply --server-side -f app/crds/": chart("", map[string]string{"crds/a.yaml": "kind: CustomResourceDefinition\n"}),
		"app/templates/a.yaml|the template is empty|remove the file":                        chart("", map[string]string{"templates/a.yaml": " \n"}),
		"app/charts/b/templates/a.yml|the template is empty|write it":                       chart("", map[string]string{"charts/b/Chart.yaml": "apiVersion: v2\nname: b\nversion: 1.0.0\n", "charts/b/templates/a.yml": ""}),
		"app/Chart.yaml|apiVersion \"v3\" isn't supported|v1 or v2":                         {"app/Chart.yaml": "apiVersion: v3\nname: app\nversion: 1.0.0\n"},
		"app/Chart.yaml|the file isn't YAML|correct":                                        {"app/Chart.yaml": "apiVersion: v2\n\tname: app\n"},
		"app|no chart: it has no Chart.yaml|helm package":                                   {"app/values.yaml": ""},
		"app|can't be read: chart.metadata.version|helm lint":                               {"app/Chart.yaml": "apiVersion: v2\nname: app\n"},
		"app|can't be read: chart.metadata.name|helm lint":                                  {"app/Chart.yaml": "apiVersion: v2\nname: ../app\nversion: 1.0.0\n"},
		"app|can't be read: cannot load values.yaml|helm lint":                              chart("", map[string]string{"values.yaml": "a: ["}),
		"app/values.schema.json|the schema isn't JSON|correct the schema":                   chart("", map[string]string{"values.schema.json": "{"}),
		"app/values.schema.json|refers to https://a.example/b.json|correct":                 chart("", map[string]string{"values.schema.json": `{"$ref": "https://a.example/b.json"}`}),
		"app/values.schema.json|refers to file:///etc/x.json|correct":                       chart("", map[string]string{"values.schema.json": `{"properties": {"a": {"$ref": "/etc/x.json#/a"}}}`}),
	} {
		t.Run(want, func(t *testing.T) {
			place, rest, _ := strings.Cut(want, "|")
			what, fix, _ := strings.Cut(rest, "|")
			o, problems := New().Open(t.Context(), wire.Open{Dir: write(t, files), Path: "app", KubeVersion: "1.33"})
			if o != nil || len(problems) != 1 || problems[0].File != place || !strings.Contains(problems[0].What, what) || !strings.Contains(problems[0].Fix, fix) {
				t.Errorf("%+v, want %s", problems, want)
			}
		})
	}
}

// TestPaths wants names that lead nowhere, or out, to be problems.
func TestPaths(t *testing.T) {
	outside := write(t, map[string]string{"secret/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n", "values.yaml": "a: 1\n"})
	dir := write(t, simple(map[string]string{"values.yaml": "a: 1\n"}))
	link := func(target, name string) {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link(filepath.Join(outside, "secret"), "absolute")
	link("../"+filepath.Base(outside)+"/secret", "relative")
	link(filepath.Join(outside, "values.yaml"), "values.yaml")
	for _, c := range []struct{ path, values, what string }{
		{"../app", "", "leads out"}, {"/etc", "", "leads out"}, {"a/../../b", "", "leads out"}, {`..\app`, "", "leads out"},
		{"none", "", "doesn't exist"}, {"app/none", "", "doesn't exist"}, {"absolute", "", "a link leads out"}, {"relative", "", "a link leads out"},
		{"app", "../v.yaml", "leads out"}, {"app", "values.yaml", "a link leads out"}, {"app", "none.yaml", "doesn't exist"}, {"app", "app", "not a regular file"},
		{"app/values.yaml", "", "isn't compressed with gzip"}, {".", "", "no chart"}, {"", "", "no chart"},
	} {
		t.Run(c.path, func(t *testing.T) {
			request := wire.Open{Dir: dir, Path: c.path}
			if c.values != "" {
				request.ValuesFiles = []string{c.values}
			}
			if c.path == "." || c.path == "" { // its links lead out
				request.Dir = write(t, map[string]string{"a": ""})
			}
			_, problems := New().Open(t.Context(), request)
			if len(problems) != 1 || !strings.Contains(problems[0].What, c.what) || problems[0].Fix == "" {
				t.Errorf("%+v: %+v, want %s", c, problems, c.what)
			}
		})
	}
}

// TestLinks wants links within the directory to be followed, and others to be problems.
func TestLinks(t *testing.T) {
	for target, want := range map[string]string{
		"../../shared.yaml": "", "Chart.yaml": "", "/etc/hostname": "a link leads out", "../../../x": "a link leads out", "nothing": "doesn't exist",
	} {
		t.Run(target, func(t *testing.T) {
			files := simple(nil)
			files["shared.yaml"] = "kind: A\n"
			dir := write(t, files)
			if err := os.MkdirAll(filepath.Join(dir, "app", "templates"), 0o700); err != nil {
				t.Fatal(err)
			}
			if target == "Chart.yaml" {
				target = "../Chart.yaml"
			}
			if err := os.Symlink(target, filepath.Join(dir, "app", "templates", "x.yaml")); err != nil {
				t.Fatal(err)
			}
			_, problems := New().Open(t.Context(), wire.Open{Dir: dir, Path: "app"})
			if want == "" && len(problems) > 0 || want != "" && (len(problems) != 1 || !strings.Contains(problems[0].What, want) || problems[0].File != "app/templates/x.yaml") {
				t.Errorf("%s: %v, want %q", target, problems, want)
			}
		})
	}
	dir := write(t, simple(nil))
	if err := os.Symlink("..", filepath.Join(dir, "app", "loop")); err != nil {
		t.Fatal(err)
	}
	if _, problems := New().Open(t.Context(), wire.Open{Dir: dir, Path: "app"}); len(problems) != 1 || !strings.Contains(problems[0].What, "in a circle") {
		t.Errorf("a loop: %v", problems)
	}
}

// TestLimits wants a problem for a chart with a large file.
func TestLimits(t *testing.T) {
	dir := write(t, simple(nil))
	large := filepath.Join(dir, "app", "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, maxFile+1); err != nil {
		t.Fatal(err)
	}
	_, problems := New().Open(t.Context(), wire.Open{Dir: dir, Path: "app"})
	if len(problems) != 1 || problems[0].File != "app/large" || !strings.Contains(problems[0].What, "more than 16 MiB") {
		t.Errorf("%v", problems)
	}
	for want, take := range map[string]func(*budget) error{
		"the files have more than 100 MiB": func(b *budget) error { b.bytes = 5; return b.take(6) },
		"there are more than 10000 files":  func(b *budget) error { b.files = 0; return b.take(1) },
		"a file has more than 16 MiB":      func(b *budget) error { return b.take(maxFile + 1) },
	} {
		t.Run(want, func(t *testing.T) {
			if err := take(newBudget()); err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}

// TestReopened wants a chart to be kept once, and another one when anything differs.
func TestReopened(t *testing.T) {
	c := New()
	dir := write(t, simple(map[string]string{"values.yaml": "a: 1\n"}))
	request := wire.Open{Dir: dir, Path: "app"}
	first, again := opening(t, c, request), opening(t, c, request)
	if again.Chart != first.Chart {
		t.Errorf("charts %d and %d", first.Chart, again.Chart)
	}
	seen := map[int]bool{first.Chart: true}
	for _, other := range []wire.Open{
		{Dir: dir, Path: "app", SkipCRDs: true}, {Dir: dir, Path: "app", EmptyLookups: true}, {Dir: dir, Path: "app", KubeVersion: "1.30"},
		{Dir: dir, Path: "app", APIVersions: []string{"a/v1"}}, {Dir: dir, Path: "app", ValuesFiles: []string{"app/values.yaml"}},
	} {
		t.Run(other.Dir, func(t *testing.T) {
			o := opening(t, c, other)
			if seen[o.Chart] {
				t.Errorf("%+v is chart %d, too", other, o.Chart)
			}
			seen[o.Chart] = true
		})
	}
}
