package form_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// bases is a Builder that makes the documents of its files, and adds a prefix to the names.
type bases struct {
	form.Builder // opens no chart
	files        map[string]string
	problems     lynq.Problems
	missing      []string
}

func (*bases) Failed() error { return nil }

func (b *bases) Build(_ lynq.Pos, _, base string, texts map[string][]byte) (form.Base, lynq.Problems) {
	if texts == nil {
		texts = map[string][]byte{}
		for name, text := range b.files {
			texts[name] = []byte(text)
		}
	}
	made := form.Base{Texts: texts, Missing: b.missing}
	if len(b.problems) > 0 {
		return made, b.problems
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if !strings.HasPrefix(name, base) || strings.HasSuffix(name, "kustomization.yaml") {
			continue
		}
		for text := range strings.SplitSeq(string(texts[name]), "---\n") {
			made.Objects = append(made.Objects, form.BaseObject{File: name, Text: "# made\n\n" + strings.ReplaceAll(text, "name: web", `name: "{{ .uid }}-web"`)})
		}
	}
	made.Objects = append(made.Objects, form.BaseObject{File: base + "/kustomization.yaml", Text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings-abc}\n", Suffix: "-abc"})
	return made, nil
}

const baseText = `apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  ports: [{port: 80}]
---
apiVersion: v1
kind: Pod
metadata:
  name: web
  annotations: {lynq.sh/delete-policy: orphan}
`

// baseForm loads a form with a kustomization, and with these fields.
func baseForm(t *testing.T, fields string, b form.Builder) (*form.Inputs, error) {
	t.Helper()
	t.Chdir(tree(t, map[string]string{"crm.yaml": aroundDoc(t, "hub crm") + "---\n" + aroundDoc(t, "form crm/web own") + fields}))
	return (*form.Memory)(nil).Load(b, []string{"crm.yaml"}, false, strings.NewReader(""))
}

func newBases() *bases {
	return &bases{files: map[string]string{"base/app.yaml": baseText, "base/kustomization.yaml": "resources: [app.yaml]\n"}}
}

// TestKustomize wants each object to be a resource, with an id that doesn't depend on the
// content, policies, and the place of its text in the base.
func TestKustomize(t *testing.T) {
	in, err := baseForm(t, "  kustomize: ./base/\n  defaults: [{match: {kind: Service}, deletionPolicy: Retain}]\n", newBases())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range in.Forms[0].Resources {
		if r.ID != "text" {
			got = append(got, strings.Join([]string{r.ID, r.Section, r.Pos.String(), string(r.Policy.Deletion)}, " "))
		}
	}
	want := []string{"service-web kustomize base/app.yaml:1 Retain", "pod-web kustomize base/app.yaml:8 Retain", "configmap-settings kustomize base/kustomization.yaml Delete"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	paths, dirs := in.Beside()
	if diff := cmp.Diff([]string{"base/app.yaml", "base/kustomization.yaml"}, paths); diff != "" || !slices.Equal(dirs, []string{"base"}) {
		t.Error(diff, dirs)
	}
	if i := slices.IndexFunc(in.Forms[0].Resources, func(r *form.Resource) bool { return r.ID == "service-web" }); i < 0 {
		t.Error("no Service")
	} else if m := in.Forms[0].Resources[i].Manifest; m.Field("spec").Field("ports").Pos.Line != 6 || m.Field("metadata").Field("name").Str != "{{ .uid }}-web" {
		t.Errorf("the ports are at %s, and the name is %s", m.Field("spec").Field("ports").Pos, m.Field("metadata").Field("name").Str)
	}
	if _, err := in.BesideFiles(nil); err == nil || !strings.Contains(err.Error(), "pods can't build it") || !strings.Contains(err.Error(), "kubectl kustomize base") {
		t.Errorf("files for pods: %v", err)
	}
}

// TestKustomizeVersion builds a form as it was before an edit of its base.
func TestKustomizeVersion(t *testing.T) {
	in, err := baseForm(t, "  kustomize: base\n", newBases())
	if err != nil {
		t.Fatal(err)
	}
	now := in.Forms[0]
	before := now.Version(now, "base/app.yaml", []byte(strings.Replace(baseText, "80", "81", 1)))
	if before == nil || before.Resource("service-web").Manifest.Field("spec").Field("ports").Items[0].Field("port").Int != 81 {
		t.Fatalf("the version is %v", before)
	}
	if bad := now.Version(now, "base/app.yaml", []byte("kind: [")); bad != nil {
		t.Errorf("a version with errors is %v", bad)
	}
	if diff := cmp.Diff([]string{"base/app.yaml", "base/kustomization.yaml", "crm.yaml"}, now.FilesOf(now.Resource("service-web"))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"crm.yaml"}, now.FilesOf(now.Resource("text"))); diff != "" {
		t.Error(diff)
	}
}

// TestKustomizeProblems wants errors of the form and of the base, and never a form without
// the resources of its base.
func TestKustomizeProblems(t *testing.T) {
	failing := newBases()
	failing.problems = lynq.Problems{{Pos: lynq.Pos{File: "base/app.yaml", Line: 3}, What: "it is bad", Fix: "improve it"}}
	failing.missing = []string{"base/none.yaml"}
	twice := newBases()
	twice.files["base/more.yaml"] = baseText
	hub := newBases()
	hub.files["base/app.yaml"] = "apiVersion: operator.lynq.sh/v1\nkind: LynqHub\nmetadata: {name: a}\n"
	for name, c := range map[string]struct {
		fields, want string
		bases        form.Builder
	}{
		"outside":   {"  kustomize: ../base\n", `form "web": spec.kustomize: it must be in the directory of the form's file, or below it`, newBases()},
		"absolute":  {"  kustomize: /base\n", "it must be in the directory", newBases()},
		"address":   {"  kustomize: https://example.com/base\n", "it must be a directory; found an address", newBases()},
		"template":  {"  kustomize: '{{ .uid }}'\n", "it may not be a template", newBases()},
		"list":      {"  kustomize: [base]\n", "spec.kustomize must be a string", newBases()},
		"bad":       {"  kustomize: base\n", `base/app.yaml:3: form "web": kustomize: it is bad (improve it)`, failing},
		"twice":     {"  kustomize: base\n", `base/more.yaml:1: form "web": id "service-web" appears twice, first at base/app.yaml:1`, twice},
		"a hub":     {"  kustomize: base\n", "a LynqHub is an input of lynqctl, and not an object", hub},
		"nobody":    {"  kustomize: base\n", "this command builds no kustomizations", nil},
		"unmatched": {"  kustomize: base\n  defaults: [{match: {kind: Job}, deletionPolicy: Retain}]\n", "Job", newBases()},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := baseForm(t, c.fields, c.bases)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if paths, dirs := in.Beside(); name == "bad" && (!slices.Contains(paths, "base/none.yaml") || !slices.Contains(paths, "base/app.yaml") || len(dirs) != 1) {
				t.Errorf("a watch sees only %v and %v", paths, dirs)
			}
		})
	}
}

// TestKustomizePlaces wants the place of a template that a kustomization adds, unless several
// lines have it.
func TestKustomizePlaces(t *testing.T) {
	for kustomization, want := range map[string]string{
		"resources: [app.yaml]\nnamePrefix: \"{{ .uid }}-\"\n":                      "base/kustomization.yaml:2",
		"resources: [app.yaml]\nnamePrefix: \"{{ .uid }}-\"\n# also in {{ .uid }}-": "base/app.yaml:4",
		"resources: [app.yaml]\n": "base/app.yaml:4",
	} {
		t.Run(kustomization, func(t *testing.T) {
			b := newBases()
			b.files["base/kustomization.yaml"] = kustomization
			in, err := baseForm(t, "  kustomize: base\n", b)
			if err != nil {
				t.Fatal(err)
			}
			name := in.Forms[0].Resource("service-web").Manifest.Field("metadata").Field("name")
			if got := name.Pos.String(); got != want {
				t.Errorf("%q: the name is at %s, want %s", kustomization, got, want)
			}
		})
	}
}
