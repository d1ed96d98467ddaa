package helm

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/Masterminds/sprig/v3"
	"github.com/rogpeppe/go-internal/txtar"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// TestCRDs wants CustomResourceDefinitions beside the templates to be refused, unless others
// install them.
func TestCRDs(t *testing.T) {
	crd := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b}\n"
	dir := write(t, simple(map[string]string{"charts/sub/Chart.yaml": "name: sub\nversion: 1.0.0\n", "charts/sub/crds/c.yaml": crd, "templates/x.yaml": "kind: A\n"}))
	for _, skip := range []bool{false, true} {
		charts := New()
		o := opening(t, charts, wire.Open{Dir: dir, Path: "app", SkipCRDs: skip})
		r, problems := charts.Render(t.Context(), wire.Render{Chart: o.Chart, ReleaseName: "a", Namespace: "b"})
		switch {
		case skip && (len(problems) > 0 || texts(r) != "kind: A"):
			t.Errorf("without CRDs: %v, %v", r, problems)
		case !skip && (len(problems) != 1 || problems[0].File != "app/charts/sub/crds/c.yaml" || !strings.HasPrefix(problems[0].What, "the chart has a CustomResourceDefinition") || !strings.Contains(problems[0].Fix, "kubectl apply --server-side")):
			t.Errorf("%+v", problems)
		}
	}
	dir = write(t, simple(map[string]string{"crds/a.yaml": crd, "templates/x.yaml": "kind: A\n"}))
	opening(t, New(), wire.Open{Dir: dir, Path: "app", SkipCRDs: true})
}

// TestDocuments wants all documents of templates in the order of their names, but no partials.
func TestDocuments(t *testing.T) {
	r, problems := rendering(t, simple(map[string]string{
		"templates/b.yaml": "kind: B\n---\n---\nkind: A\n--- \nkind: C\n", "templates/a.yaml": "# only this\n", "templates/c/_x.yaml": "kind: Partial",
		"templates/NOTES.txt": "kind: Notes", "templates/empty.yaml": "{{ if false }}x{{ end }}\n",
	}), "")
	if got, want := texts(r), "# only this\n---\nkind: B\n---\nkind: A\n---\nkind: C"; len(problems) > 0 || got != want || r.Objects[0].File != "app/templates/a.yaml" {
		t.Errorf("%v, %v", r, problems)
	}
}

// TestReleases wants names that Helm refuses to be problems, and charts that exist.
func TestReleases(t *testing.T) {
	charts := New()
	o := opening(t, charts, wire.Open{Dir: write(t, simple(nil)), Path: "app"})
	for _, name := range []string{"", "A", "a_b", "-a", strings.Repeat("a", 54)} {
		t.Run(name, func(t *testing.T) {
			if _, problems := charts.Render(t.Context(), wire.Render{Chart: o.Chart, ReleaseName: name}); len(problems) != 1 || problems[0].Fix == "" {
				t.Errorf("%q: %v", name, problems)
			}
		})
	}
	for _, id := range []int{-1, o.Chart + 1} {
		if _, problems := charts.Render(t.Context(), wire.Render{Chart: id, ReleaseName: "a"}); len(problems) != 1 {
			t.Errorf("chart %d: %v", id, problems)
		}
	}
}

// TestLookups wants lookups to find nothing if that was asked for.
func TestLookups(t *testing.T) {
	dir := write(t, simple(map[string]string{"templates/x.yaml": `kind: A{{ if (lookup "v1" "Secret" "" "").items }}b{{ end }}`}))
	charts := New()
	o := opening(t, charts, wire.Open{Dir: dir, Path: "app", EmptyLookups: true})
	if r, problems := charts.Render(t.Context(), wire.Render{Chart: o.Chart, ReleaseName: "a"}); len(problems) > 0 || texts(r) != "kind: A" {
		t.Errorf("%v, %v", r, problems)
	}
}

// TestUnsteady wants a template with another result each time to be a problem, also where no
// function is to blame. Here it prints an address.
func TestUnsteady(t *testing.T) {
	_, problems := rendering(t, simple(map[string]string{"templates/x.yaml": "a: {{ list .Capabilities }}", "templates/y.yaml": "b: 1"}), "")
	if len(problems) != 1 || problems[0].File != "app/templates/x.yaml" || !strings.Contains(problems[0].What, "another result each time") {
		t.Errorf("%v", problems)
	}
}

// TestGoesAround wants every way to a function that varies to be refused.
func TestGoesAround(t *testing.T) {
	files := simple(map[string]string{
		"templates/_h.tpl":            `{{ define "lib.random" }}{{ $f := randAlpha 5 }}{{ $f }}{{ end }}`,
		"charts/lib/Chart.yaml":       "apiVersion: v2\nname: lib\nversion: 1.0.0\ntype: library\n",
		"charts/lib/templates/_l.tpl": `{{ define "sub.random" }}{{ tpl "{{ 5 | randAlpha }}" . }}{{ end }}`,
	})
	for _, text := range []string{
		"{{ randAlpha 5 }}", "{{ 5 | randAlpha | b64enc }}", "{{ (randAlpha 5) }}", "{{ $x := randAlpha 5 }}{{ $x }}", "{{ default (randAlpha 5) \"\" }}",
		"{{ include \"lib.random\" . }}", "{{ template \"lib.random\" . }}", "{{ include \"sub.random\" . }}", "{{ tpl \"{{ randAlpha 5 }}\" . }}",
		"{{ tpl \"{{ tpl .Values.t . }}\" . }}", "{{ tpl \"{{ define \\\"x\\\" }}{{ randAlpha 5 }}{{ end }}{{ include \\\"x\\\" . }}\" . }}",
		"{{ with randAlpha 5 }}{{ . }}{{ end }}", "{{ range list (randAlpha 5) }}{{ . }}{{ end }}", "{{ if randAlpha 5 }}{{ end }}", "{{ .Values.x | default (randAlpha 5) }}",
		"{{ and true (randAlpha 5) }}", "{{ printf \"%s\" (randAlpha 5) }}", "{{ block \"b\" . }}{{ randAlpha 5 }}{{ end }}", "{{ call .f }}{{ randAlpha 5 }}",
	} {
		t.Run(text, func(t *testing.T) {
			files["app/templates/x.yaml"] = "a: " + text
			r, problems := rendering(t, files, `{"t": "{{ randAlpha 5 }}"}`)
			if len(problems) != 1 || r != nil {
				t.Errorf("%s: %v, %v", text, r, problems)
			}
		})
	}
	for _, text := range []string{ // mentioned, and not called
		"{{ if .Values.none }}{{ randAlpha 5 }}{{ end }}", "{{ or true (randAlpha 5) }}", "{{ define \"unused\" }}{{ now }}{{ end }}", "{{ range .Values.none }}{{ uuidv4 }}{{ end }}",
		"{{ if false }}{{ env \"A\" }}{{ lookup \"a\" \"b\" \"c\" \"d\" }}{{ end }}", "{{ with .Values.none }}{{ genCA \"a\" 1 }}{{ else }}b{{ end }}",
	} {
		t.Run(text, func(t *testing.T) {
			files["app/templates/x.yaml"] = "a: b" + text
			if _, problems := rendering(t, files, ""); len(problems) > 0 {
				t.Errorf("%s: %v", text, problems)
			}
		})
	}
}

// functionCalls returns calls of all functions of sprig with arguments of their types.
func functionCalls(t *testing.T) map[string][]string {
	t.Helper()
	arguments := func(p reflect.Type, n int) string {
		values := map[reflect.Kind][]string{
			reflect.String: {`"a,b"`, `"2024-01-02"`, `"1.2.3"`}, reflect.Int: {"3", "1", "2"}, reflect.Int64: {"(int64 3)", "(int64 1)", "(int64 2)"},
			reflect.Float64: {"1.5", "2.5", "0.5"}, reflect.Bool: {"true", "false", "true"}, reflect.Map: {`(dict "a" 1 "b" 2 "c" 3 "d" 4)`, "(dict)", `(dict "x" "y")`},
			reflect.Slice: {`(list "a" "b")`, "(list 1 2)", "(list)"}, reflect.Interface: {"3", `"a"`, `(dict "a" 1 "b" 2 "c" 3 "d" 4)`}, reflect.Struct: {`(toDate "2006" "2024")`, `(toDate "2006" "2020")`, `(toDate "2006" "2019")`},
		}
		all := values[p.Kind()]
		if len(all) == 0 {
			return "nil"
		}
		return all[n%len(all)]
	}
	calls := map[string][]string{}
	for name, f := range sprig.TxtFuncMap() {
		kind := reflect.TypeOf(f)
		for n := range 3 {
			call := name
			for i := range kind.NumIn() {
				p := kind.In(i)
				if kind.IsVariadic() && i == kind.NumIn()-1 {
					p = p.Elem()
				}
				call += " " + arguments(p, n+i*(n%2))
			}
			calls[name] = append(calls[name], "{{ toJson ("+call+") }}", "{{ "+call+" }}")
		}
	}
	if len(calls) < 200 {
		t.Fatalf("only %d functions", len(calls))
	}
	return calls
}

// TestFunctionsRepeat wants each function to return the same each time, or an error.
func TestFunctionsRepeat(t *testing.T) {
	all := functionCalls(t)
	works := 0
	for name, calls := range all {
		for _, call := range calls {
			render := func() string {
				e := engine.Engine{CustomTemplateFuncs: functions(false)}
				files, err := e.RenderWithContext(t.Context(), oneTemplate(call), common.Values{"Values": common.Values{}})
				if err != nil {
					return "error"
				}
				return fmt.Sprint(files)
			}
			first := render()
			if first != "error" {
				works++
			}
			for range 2 {
				if again := render(); again != first {
					t.Errorf("%s: %s\n%s, then\n%s", name, call, first, again)
				}
			}
		}
	}
	for name := range refusals(false) {
		if _, ok := functions(false)[name]; !ok {
			t.Errorf("%s isn't refused", name)
		}
	}
	if works < 500 {
		t.Errorf("only %d calls succeed", works)
	}
}

// oneTemplate returns a chart with one template.
func oneTemplate(text string) *chart.Chart {
	return &chart.Chart{
		Metadata:  &chart.Metadata{Name: "a", Version: "1.0.0", APIVersion: "v2"},
		Templates: []*common.File{{Name: "templates/x", Data: []byte(text)}},
	}
}

// testCharts returns the directories of the charts in testdata, each with app/ and values/.
func testCharts(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/charts/*.txtar")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	all := map[string]string{}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		content := map[string]string{}
		for _, f := range archive.Files {
			content[f.Name] = string(f.Data)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".txtar")] = write(t, content)
	}
	return all
}

// TestParallelReleases wants goroutines to get what they get one after the other, and each
// release the same bytes whenever it is rendered.
func TestParallelReleases(t *testing.T) {
	charts := New()
	type release struct {
		name    string
		request wire.Render
	}
	var all []release
	for name, dir := range testCharts(t) {
		o := opening(t, charts, wire.Open{Dir: dir, Path: "app", KubeVersion: "1.33", APIVersions: []string{"monitoring.example/v1"}})
		for i := 1; i <= 3; i++ {
			text, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("values/%d.yaml", i)))
			if err != nil {
				t.Fatal(err)
			}
			given, err := yaml.YAMLToJSON(text)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, release{fmt.Sprint(name, i), wire.Render{Chart: o.Chart, ReleaseName: fmt.Sprintf("r%d", i), Namespace: "ns", Values: given}})
		}
	}
	render := func(r release) string {
		rendered, problems := charts.Render(t.Context(), r.request)
		text, err := json.Marshal([]any{rendered, problems})
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	want := map[string]string{}
	for _, r := range all {
		want[r.name] = render(r)
		if strings.Contains(want[r.name], "[null,") {
			t.Errorf("%s: %s", r.name, want[r.name])
		}
	}
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for i := range all {
				r := all[len(all)-1-i]
				if got := render(r); got != want[r.name] {
					t.Errorf("%s: %s, want %s", r.name, got, want[r.name])
				}
			}
		})
	}
	running.Wait()
}

// TestSchemas wants the verdict of Helm's own check for each value, and problems that name the
// field and not the value.
func TestSchemas(t *testing.T) {
	dir := testCharts(t)["schema"]
	charts := New()
	o := opening(t, charts, wire.Open{Dir: dir, Path: "app"})
	loaded, err := loader.Load(filepath.Join(dir, "app"))
	if err != nil {
		t.Fatal(err)
	}
	for values, want := range map[string]string{
		`{}`: "", `{"replicas": 100, "password": "abcdef", "sub": {"port": 1}}`: "", `{"replicas": 2.0}`: "",
		`{"replicas": "s3cret"}`:                  "values: replicas: got string, want integer",
		`{"replicas": 98765}`:                     "values: replicas: the number is too large",
		`{"replicas": -98765}`:                    "values: replicas: the number is too small",
		`{"replicas": 1.98765}`:                   "values: replicas: got number, want integer",
		`{"replicas": null}`:                      "values: missing property 'replicas'",
		`{"mode": "s3cret"}`:                      "values: mode: value must be one of 'small', 'large'",
		`{"password": "S3cret"}`:                  "values: password: doesn't match the pattern ^[a-z]{4,}$",
		`{"password": {"s3cret": 1}}`:             "values: password: got object, want string",
		`{"sub": {"port": "s3cret"}}`:             "values: sub.port: got string, want integer",
		`{"sub": {"prot": 1}}`:                    "values: sub: additional properties 'prot' not allowed",
		`{"replicas": "x", "sub": {"port": "y"}}`: "values: replicas: got string, want integer|values: sub.port: got string, want integer",
	} {
		t.Run(values, func(t *testing.T) {
			_, problems := charts.Render(t.Context(), wire.Render{Chart: o.Chart, ReleaseName: "a", Values: json.RawMessage(values)})
			var got []string
			for _, p := range problems {
				got = append(got, p.What)
				if !strings.HasSuffix(p.File, "values.schema.json") || p.Fix == "" {
					t.Errorf("%s: %+v", values, p)
				}
			}
			text := strings.Join(got, "|")
			if text != want || strings.Contains(text, "s3cret") || strings.Contains(text, "98765") {
				t.Errorf("%s: %q, want %q", values, text, want)
			}
			var given map[string]any
			if err := json.Unmarshal([]byte(values), &given); err != nil {
				t.Fatal(err)
			}
			if _, err := util.ToRenderValues(loaded, given, common.ReleaseOptions{}, nil); (err == nil) != (want == "") {
				t.Errorf("%s: Helm says %v", values, err)
			}
		})
	}
}
