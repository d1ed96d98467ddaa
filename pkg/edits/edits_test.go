package edits

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// text is a form with two resources, and their data.
func text(settings, other string) string {
	return `apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: crm
  configMaps:
    - id: settings
      nameTemplate: "{{ .uid }}-settings"
      spec:
        apiVersion: v1
        kind: ConfigMap
        data:
          plan: "{{ .plan }}"
` + settings + `

    # a comment about the next one
    - id: other
      nameTemplate: "{{ .uid }}-other"
      spec: {apiVersion: v1, kind: ConfigMap, data: {x: "` + other + `"}}
`
}

const mode = "          mode: "

// compile returns the program of a file's form.
func compile(t *testing.T, text string) *render.Program {
	t.Helper()
	forms := form.Versions("web.yaml", []byte(text))
	if len(forms) != 1 {
		t.Fatalf("%d forms in %s", len(forms), text)
	}
	hub := &form.Hub{Name: "crm", Mappings: []form.Mapping{{Variable: "uid", Column: "id"}, {Variable: "plan", Column: "plan"}}}
	p, problems := render.Compile(forms[0], hub, render.Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return p
}

// find finds the edit of a resource in versions, the newest of which the run has. The record
// is that of another text.
func find(t *testing.T, id, recorded string, texts ...string) *changeset.Edit {
	t.Helper()
	was := compile(t, recorded).Template(id)
	f := &Finder{Hide: func(s string) string { return strings.ReplaceAll(s, "hunter2", "•••") }, Versions: func(file string) []Version {
		if file != "web.yaml" {
			t.Errorf("file %s", file)
		}
		var all []Version
		for i, text := range texts {
			v := Version{Text: text}
			if i > 0 {
				v.Commit = changeset.Commit{ID: fmt.Sprintf("c%d", len(texts)-i), Subject: "hunter2"}
			}
			all = append(all, v)
		}
		return all
	}}
	made := func(p *render.Program) bool { return p.Template(id) == was }
	p := compile(t, texts[0])
	e := f.Find(p, id, was, made)
	f.Versions = func(string) []Version { t.Error("the versions are asked for again"); return nil }
	if f.Find(p, id, was, made) != e || f.Find(p, id, was+"x", made) != e {
		t.Error("another edit for the same record")
	}
	return e
}

func TestFind(t *testing.T) {
	slow, fast, big := text(mode+"slow", "a"), text(mode+"fast", "a"), text(mode+"fast\n          size: big", "a")
	otherSlow, broken := text(mode+"slow", "b"), "kind: [\n"
	for name, tt := range map[string]struct {
		recorded string
		texts    []string // the file, then its commits, the newest first
		want     string
	}{
		"one commit":             {slow, []string{fast, fast, slow}, "c2 •••"},
		"several":                {slow, []string{big, big, fast, slow}, "c3 •••, and 1 earlier commit"},
		"since the newest":       {fast, []string{big, big, fast, slow, fast}, "c4 •••"},
		"not committed":          {slow, []string{fast, slow}, "not committed"},
		"not committed, too":     {slow, []string{big, fast, slow}, "not committed, c2 •••"},
		"of another resource":    {slow, []string{fast, fast, otherSlow, slow}, "c3 •••"},
		"errors between":         {slow, []string{fast, fast, broken, slow}, "c3 •••, and 1 earlier commit"},
		"deleted between":        {slow, []string{fast, fast, "", slow}, "c3 •••, and 1 earlier commit"},
		"in no version":          {slow, []string{fast, fast, big}, ""},
		"no versions":            {slow, []string{fast}, ""},
		"the same":               {slow, []string{slow, slow, fast}, ""},
		"back to what it was":    {slow, []string{fast, fast, slow, big, slow}, "c4 •••"},
		"only the file is known": {slow, []string{fast, broken}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := find(t, "settings", tt.recorded, tt.texts...).String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestFindChanged finds nothing if the file isn't the one that the run has.
func TestFindChanged(t *testing.T) {
	slow, fast, big := text(mode+"slow", "a"), text(mode+"fast", "a"), text(mode+"big", "a")
	f := &Finder{Hide: func(s string) string { return s }, Versions: func(string) []Version {
		return []Version{{Text: big}, {Commit: changeset.Commit{ID: "c1"}, Text: slow}}
	}}
	was := compile(t, slow).Template("settings")
	if e := f.Find(compile(t, fast), "settings", was, func(p *render.Program) bool { return p.Template("settings") == was }); e != nil {
		t.Errorf("%+v", e)
	}
}

func TestDifference(t *testing.T) {
	slow := text(mode+"slow", "a")
	e := find(t, "settings", slow, text(mode+"hunter2", "b"), slow)
	want := `--- recorded/web.yaml
+++ now/web.yaml
@@ -11,4 +11,4 @@
         kind: ConfigMap
         data:
           plan: "{{ .plan }}"
-          mode: slow
+          mode: •••
`
	if e == nil || e.Diff != want || e.More != 0 || e.Place != "web.yaml:7" || e.Form != "web" || e.Resource != "settings" {
		t.Errorf("%+v", e)
	}
	var many strings.Builder
	for i := range 30 {
		fmt.Fprintf(&many, "\n          key%d: text", i)
	}
	if e = find(t, "settings", slow, text(mode+"slow"+many.String(), "a"), slow); strings.Count(e.Diff, "\n") != maxLines || e.More != 3+3+30-maxLines || !strings.HasSuffix(e.Diff, "text\n") {
		t.Errorf("%d more: %s", e.More, e.Diff)
	}
	if e = find(t, "other", slow, text(mode+"slow", "b"), slow); !strings.Contains(e.Diff, "\n-      spec: {apiVersion: v1, kind: ConfigMap, data: {x: \"a\"}}\n") {
		t.Errorf("%s", e.Diff)
	}
}

// TestSecrets shows no line of a manifest that is a Secret or has one, now or before, nor a
// line that other resources may share.
func TestSecrets(t *testing.T) {
	before, after := text(mode+"slow", "a"), text(mode+"fast", "a")
	kind := func(text string) string { return strings.Replace(text, "kind: ConfigMap", "kind: Secret", 1) }
	section := func(text string) string { return strings.Replace(text, "configMaps:", "manifests:", 1) }
	wrapped := func(text string) string {
		text = strings.Replace(section(text), "apiVersion: v1\n        kind: ConfigMap", "apiVersion: kubernetes.crossplane.io/v1\n        kind: Object", 1)
		return strings.Replace(text, "        data:\n", "        manifest:\n          kind: Secret\n", 1)
	}
	flow := func(text string) string {
		return strings.NewReplacer("    - id: settings", "    - {id: settings,", "Template: \"{{ .uid }}-settings\"", "Template: \"{{ .uid }}-settings\",", "spec:\n        api", "spec: {api",
			": v1\n        kind: ConfigMap", ": v1, kind: ConfigMap", "\n        data:\n", ", data: {", "plan: \"{{ .plan }}\"\n", "plan: \"{{ .plan }}\",", "slow\n", "slow}}}\n", "fast\n", "fast}}}\n").Replace(text)
	}
	for name, texts := range map[string][2]string{
		"now":     {section(before), kind(section(after))},
		"before":  {kind(section(before)), section(after)},
		"wrapped": {wrapped(before), wrapped(after)},
		"flow":    {flow(before), flow(after)},
	} {
		t.Run(name, func(t *testing.T) {
			if e := find(t, "settings", texts[0], texts[1], texts[0]); e == nil || e.Diff != "" || !e.Uncommitted {
				t.Errorf("%+v", e)
			}
		})
	}
	if e := find(t, "settings", section(before), section(after), section(before)); e.Diff == "" {
		t.Error("no difference without a Secret")
	}
}

func TestLinesOf(t *testing.T) {
	file := "a:\n  - id: x\n    b: |\n      - text\n\n# beside\n    c: 1\n    # inside\n  # - token: hunter2\n\n  - id: y\nb: 1\n- z: 1"
	for at, want := range map[int]string{
		0: "", 1: "", 14: "",
		2:  "  - id: x|    b: ||      - text||# beside|    c: 1|    # inside",
		11: "  - id: y",
		13: "- z: 1",
	} {
		if _, lines := linesOf(file, at, false); strings.Join(lines, "|") != want {
			t.Errorf("line %d: %q", at, lines)
		}
	}
}

func TestLinesOfDocuments(t *testing.T) {
	file := "# first\nkind: A\nspec:\n- x\n\n# about b\n---\nkind: B\n...\n{kind: C}\n---\nkind: List\nitems:\n- kind: D\n  a: 1\n- kind: E"
	for at, want := range map[int]string{1: "", 2: "kind: A|spec:|- x", 8: "kind: B", 10: "", 14: "- kind: D|  a: 1"} {
		if _, lines := linesOf(file, at, true); strings.Join(lines, "|") != want {
			t.Errorf("line %d: %q", at, lines)
		}
	}
	if _, lines := linesOf("\ufeffkind: A\r\na: 1\r\n", 1, true); strings.Join(lines, "|") != "kind: A|a: 1" {
		t.Errorf("after a byte order mark: %q", lines)
	}
}

// TestStdin asks for no versions of standard input, even beside a file of that name.
func TestStdin(t *testing.T) {
	p := compile(t, text(mode+"slow", "a"))
	for _, r := range p.Form.Resources {
		r.Pos = lynq.Pos{File: "stdin", Line: 7}
	}
	f := &Finder{Versions: func(file string) []Version { t.Errorf("file %s", file); return nil }}
	if e := f.Find(p, "settings", "", func(*render.Program) bool { return true }); e != nil {
		t.Errorf("%+v", e)
	}
}

// parts implements form.Builder. It makes one object, and takes the data from a file beside it.
type parts struct{ form.Builder }

// Failed implements form.Builder.
func (parts) Failed() error { return nil }

func (parts) Build(_ lynq.Pos, _, _ string, texts map[string][]byte) (form.Base, lynq.Problems) {
	if texts == nil {
		texts = map[string][]byte{"base/app.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n"), "base/patch.yaml": []byte("now")}
	}
	text := string(texts["base/app.yaml"]) + "data: {a: " + string(texts["base/patch.yaml"]) + "}\n"
	return form.Base{Objects: []form.BaseObject{{File: "base/app.yaml", Text: text}}, Texts: texts}, nil
}

// TestFindInBase names the file of a kustomization that was edited, although the object comes
// from another one.
func TestFindInBase(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	hub := "apiVersion: operator.lynq.sh/v1\nkind: LynqHub\nmetadata: {name: crm}\nspec:\n  source: {type: csv, csv: {path: rows.csv}}\n  valueMappings: {uid: id}\n---\n"
	if err := os.WriteFile("web.yaml", []byte(hub+"apiVersion: operator.lynq.sh/v1\nkind: LynqForm\nmetadata: {name: web}\nspec: {hubId: crm, kustomize: base}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := (*form.Memory)(nil).Load(parts{}, []string{"web.yaml"}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, problems := render.Compile(in.Forms[0], in.Hubs[0], render.Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	versions := map[string][]Version{
		"base/app.yaml":   {{Text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n"}},
		"base/patch.yaml": {{Text: "now"}, {Commit: changeset.Commit{ID: "c2", Subject: "Patch"}, Text: "now"}, {Commit: changeset.Commit{ID: "c1"}, Text: "before"}},
	}
	was := ""
	if before := p.Version(in.Forms[0].Version(in.Forms[0], "base/patch.yaml", []byte("before"))); before != nil {
		was = before.Template("configmap-web")
	}
	f := &Finder{Hide: func(s string) string { return s }, Versions: func(file string) []Version { return versions[file] }}
	e := f.Find(p, "configmap-web", was, func(p *render.Program) bool { return p.Template("configmap-web") == was })
	if was == "" || e == nil || e.Place != "base/patch.yaml" || len(e.Commits) != 1 || e.Commits[0].ID != "c2" {
		t.Errorf("the edit is %v", e)
	}
}
