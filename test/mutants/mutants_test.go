package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSurvivors wants the mutants of a small package to survive if its tests don't notice
// them.
func TestSurvivors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m, err := mutate([]string{"./testdata/small"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(map[string]any{"Replace": m.overlay})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, content, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := compile("./testdata/small", overlay, filepath.Join(dir, "tests"))
	if err != nil {
		t.Fatal(err)
	}
	survived, unreached := m.survivors([]*suite{s}, 2, regexp.MustCompile(""))
	changes := func(of []mutant) (texts []string) {
		for _, mut := range of {
			texts = append(texts, mut.Change)
		}
		return texts
	}
	if diff := cmp.Diff([]string{"always true: !held"}, changes(survived)); diff != "" {
		t.Errorf("survivors (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Delete in the place of Keep"}, changes(unreached)); diff != "" {
		t.Errorf("unreached (-want +got):\n%s", diff)
	}
}
