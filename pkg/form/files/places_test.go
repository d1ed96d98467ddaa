package files_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/form/files"
)

// TestPlaces checks that changes beside the inputs don't matter.
func TestPlaces(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	for _, dir := range []string{"in/sub/deep", "in/.git", "else", "far"} {
		if err := os.MkdirAll(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"in/a.yaml", "in/rows.csv", "else/one.yaml", "far/away.yaml"} {
		if err := os.WriteFile(at(file), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for target, name := range map[string]string{"../far/away.yaml": "in/linked.yaml", "round": "round", "gone": "in/dangling.yaml"} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		paths     []string
		recursive bool
		dirs      []string
		matter    []string
		not       []string
	}{
		"a directory": {
			paths: []string{at("in")}, dirs: []string{root, at("far"), at("in")},
			matter: []string{"in", "in/a.yaml", "in/new.json", "in/linked.yaml", "far/away.yaml", "in/gone"},
			not:    []string{"else", "in/rows.csv", "in/.a.yaml.swp", "in/sub", "in/sub/b.yaml", "far/other.yaml", "in/kustomization.yaml"},
		},
		"recursive": {
			paths: []string{at("in")}, recursive: true, dirs: []string{root, at("far"), at("in"), at("in/sub"), at("in/sub/deep")},
			matter: []string{"in/sub", "in/sub/deep/b.yaml", "in/new-directory"},
			not:    []string{"in/rows.csv", "in/.git", "in/.git/a.yaml"},
		},
		"a file":              {paths: []string{at("else/one.yaml")}, dirs: []string{at("else")}, matter: []string{"else/one.yaml"}, not: []string{"else/two.yaml"}},
		"what doesn't exist":  {paths: []string{at("no/such/dir")}, dirs: []string{root}, matter: []string{"no"}, not: []string{"in"}},
		"links in a circle":   {paths: []string{at("round")}, dirs: []string{root}, matter: []string{"round"}},
		"nothing that is any": {paths: []string{"-", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ps := files.NewPlaces(test.paths, test.recursive)
			if diff := cmp.Diff(test.dirs, ps.Dirs()); diff != "" {
				t.Errorf("directories: (-want +got)\n%s", diff)
			}
			for _, name := range test.matter {
				if !ps.Matters(at(name)) {
					t.Errorf("%s does not matter", name)
				}
			}
			for _, name := range test.not {
				if ps.Matters(at(name)) {
					t.Errorf("%s matters", name)
				}
			}
		})
	}
}
