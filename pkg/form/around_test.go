package form_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// aroundDoc returns a document: "hub a", or "form a/web plan" for hub a with a value.
func aroundDoc(t *testing.T, what string) string {
	t.Helper()
	words := strings.Fields(what)
	if words[0] == "hub" {
		return "apiVersion: operator.lynq.sh/v1\nkind: LynqHub\nmetadata: {name: " + words[1] + "}\nspec:\n" +
			"  source: {type: csv, csv: {path: rows.csv}}\n  valueMappings: {uid: id, activate: active}\n"
	}
	hub, name, _ := strings.Cut(words[1], "/")
	return "apiVersion: operator.lynq.sh/v1\nkind: LynqForm\nmetadata: {name: " + name + "}\nspec:\n  hubId: " + hub +
		"\n  configMaps:\n  - {id: text, nameTemplate: " + words[2] + ", spec: {apiVersion: v1, kind: ConfigMap}}\n"
}

// TestAround checks that a bad file preserves exactly the hubs that it concerns.
func TestAround(t *testing.T) {
	good := map[string][]string{"a.yaml": {"hub a", "form a/a one"}, "b.yaml": {"hub b"}, "b-form.yaml": {"form b/b one", "form b/b2 one"}}
	for name, tt := range map[string]struct {
		now   map[string][]string // new texts of files; "broken" isn't YAML, nil removes the file
		bad   []string
		hubs  []string // hubs that keep the good inputs; nil for all
		forms []string // with the names of their objects
	}{
		"a broken form keeps its hub": {
			now: map[string][]string{"b-form.yaml": {"broken"}, "a.yaml": {"hub a", "form a/a two"}},
			bad: []string{"b-form.yaml"}, hubs: []string{"b"}, forms: []string{"a two", "b one", "b2 one"},
		},
		"a hub is kept whole, with forms of other files": {
			now: map[string][]string{"b.yaml": {"hub b", "broken"}, "b-form.yaml": {"form b/b two"}, "a.yaml": {"hub a", "form a/a two"}},
			bad: []string{"b.yaml"}, hubs: []string{"b"}, forms: []string{"a two", "b one", "b2 one"},
		},
		"a form that moved into a broken file stays": {
			now: map[string][]string{"b-form.yaml": {"form b/b two"}, "b2.yaml": {"form b/b2 two", "broken"}},
			bad: []string{"b2.yaml"}, hubs: []string{"b"}, forms: []string{"a one", "b one", "b2 one"},
		},
		"a file that tells of two hubs": {
			now: map[string][]string{"b.yaml": {"hub b", "form a/x one", "broken"}, "a.yaml": {"hub a", "form a/a two"}},
			bad: []string{"b.yaml"}, hubs: []string{"a", "b"}, forms: []string{"a one", "b one", "b2 one"},
		},
		"a new file that tells of no hub": {now: map[string][]string{"c.yaml": {"broken"}}, bad: []string{"c.yaml"}},
		"a new hub beside":                {now: map[string][]string{"b.yaml": {"broken"}, "c.yaml": {"hub c", "form c/c one"}}, bad: []string{"b.yaml"}, hubs: []string{"b"}, forms: []string{"a one", "b one", "b2 one", "c one"}},
		"no file":                         {bad: []string{"-f"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(files map[string][]string) {
				for file, documents := range files {
					var texts []string
					for _, d := range documents {
						if d == "broken" {
							texts = append(texts, "kind: [\n")
							continue
						}
						texts = append(texts, aroundDoc(t, d))
					}
					if err := os.WriteFile(filepath.Join(dir, file), []byte(strings.Join(texts, "---\n")), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			write(good)
			in, err := form.LoadAny([]string{dir}, false, nil)
			if err != nil {
				t.Fatal(err)
			}
			was := form.NewGood(in, []string{dir}, false)
			write(tt.now)
			bad := map[string]bool{}
			for _, file := range tt.bad {
				bad[filepath.Join(dir, file)] = true
			}
			around, hubs, err := was.Around(nil, []string{dir}, false, bad)
			if tt.hubs == nil {
				if !errors.Is(err, form.ErrConcernUnknown) {
					t.Fatalf("error %v, and hubs %v", err, hubs)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, h := range hubs {
				names = append(names, h.Name)
			}
			if !slices.Equal(names, tt.hubs) {
				t.Errorf("hubs %v are kept, want %v", names, tt.hubs)
			}
			var forms []string
			for _, f := range around.Inputs.Forms {
				forms = append(forms, f.Name+" "+f.Resources[0].NameTemplate.Text)
			}
			if diff := cmp.Diff(tt.forms, forms); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAroundFurther checks that problems between files also exclude these files.
func TestAroundFurther(t *testing.T) {
	dir := t.TempDir()
	write := func(file, text string) {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.yaml", aroundDoc(t, "hub a")+"---\n"+aroundDoc(t, "form a/a one"))
	in, err := form.LoadAny([]string{dir}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	was := form.NewGood(in, []string{dir}, false)
	write("a.yaml", aroundDoc(t, "hub a")+"---\n"+aroundDoc(t, "form a/a two"))
	write("c.yaml", aroundDoc(t, "hub c")+"---\nkind: [\n")
	write("c-form.yaml", aroundDoc(t, "form c/c one"))
	_, _, err = was.Around(nil, []string{dir}, false, map[string]bool{filepath.Join(dir, "c.yaml"): true})
	problems, is := errors.AsType[lynq.Problems](err)
	if !is || len(problems) != 1 || problems[0].Pos.File != filepath.Join(dir, "c-form.yaml") {
		t.Errorf("error %v", err)
	}
}

// TestAroundFiles checks that a bad file of a form or of a lookup preserves its hub.
func TestAroundFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	named := func(text, name string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", annotations: {lynq.sh/resource-id: " + text + "}}\n"
	}
	if err := os.Mkdir(filepath.Join(dir, "base"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("a.yaml", aroundDoc(t, "hub a")+"---\n"+aroundDoc(t, "form a/a one")+"  files: [base/*.yaml, token.yaml]\n")
	write("b.yaml", aroundDoc(t, "hub b")+"  lookups: [{name: sizes, column: plan, file: base/sizes.yml}]\n---\n"+aroundDoc(t, "form b/b one"))
	write("base/app.yaml", named("app", "one"))
	write("token.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {token: '{{ .uid | b64enc }}'}\n")
	write("base/sizes.yml", "gold: {cpu: 1}\n")
	in, err := form.LoadAny([]string{dir}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	was := form.NewGood(in, []string{dir}, false)
	for file, hub := range map[string]string{"base/app.yaml": "a", "base/sizes.yml": "b", "a.yaml": "a"} {
		t.Run(file, func(t *testing.T) {
			good, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			write(file, "kind: [\n")
			around, hubs, err := was.Around(nil, []string{dir}, false, map[string]bool{filepath.Join(dir, file): true})
			if err != nil || len(hubs) != 1 || hubs[0].Name != hub {
				t.Fatalf("%s: hubs %v, error %v", file, hubs, err)
			}
			if f := around.Inputs.Forms[0]; len(f.Resources) != 3 {
				t.Errorf("%s: %d resources", file, len(f.Resources))
			}
			if _, is := around.Inputs.Hubs[1].Lookups[0].Entries.Values["gold"]; !is {
				t.Errorf("%s: no entries", file)
			}
			write(file, string(good))
		})
	}
}
