package form_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// seeds adds all inputs in testdata to a fuzz test.
func seeds(f *testing.F) {
	f.Helper()
	archives, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(archives) == 0 {
		f.Fatalf("no archives in testdata: %v", err)
	}
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			f.Add(file.Data)
		}
	}
}

// FuzzLoad checks that loading never panics, and that each problem has a place. The same
// bytes give the same Inputs. Valid resources are in dependency order.
func FuzzLoad(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := form.Load([]string{"-"}, false, bytes.NewReader(data))
		again, errAgain := form.Load([]string{"-"}, false, bytes.NewReader(data))
		var problems, problemsAgain lynq.Problems
		if err != nil && !errors.As(err, &problems) || errAgain != nil && !errors.As(errAgain, &problemsAgain) {
			t.Fatalf("an error that is no lynq.Problems: %v", err)
		}
		if diff := cmp.Diff(problems, problemsAgain); diff != "" {
			t.Errorf("loaded twice, the problems differ:\n%s", diff)
		}
		if diff := cmp.Diff(in, again, cmpopts.IgnoreUnexported(form.Form{}, form.Inputs{})); diff != "" {
			t.Errorf("loaded twice, the inputs differ:\n%s", diff)
		}
		for _, p := range slices.Concat(problems, in.Warnings) {
			if p.Pos.File == "" || p.What == "" {
				t.Errorf("a problem without file or text: %#v", p)
			}
		}
		for _, f := range in.Forms {
			checkForm(t, in, f, err == nil)
		}
	})
}

// checkForm checks the promises of Load about any form, and more about a valid one.
func checkForm(t *testing.T, in *form.Inputs, f *form.Form, good bool) {
	t.Helper()
	if good && in.Hub(f) == nil {
		t.Errorf("form %q has no hub", f.Name)
	}
	placed := map[string]bool{}
	for _, r := range f.Resources {
		if r.Manifest == nil || r.Manifest.Kind != document.Map {
			t.Fatalf("resource %q has no manifest", r.ID)
		}
		if !good {
			continue
		}
		for _, id := range r.DependIDs {
			if !placed[id] {
				t.Errorf("resource %q goes before %q, which it depends on", r.ID, id)
			}
		}
		if placed[r.ID] || r.ID == "" || r.APIVersion == "" || r.Kind == "" {
			t.Errorf("resource %q has no id of its own, or no kind", r.ID)
		}
		placed[r.ID] = true
	}
}
