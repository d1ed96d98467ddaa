package form

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMemoryForgets checks that a memory forgets deleted files, so that it doesn't grow as
// long as watch runs.
func TestMemoryForgets(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string) {
		if err := os.WriteFile(path(name), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var m Memory
	load := func(want int) {
		t.Helper()
		_, _ = m.LoadAny(nil, []string{dir}, false, nil)
		if len(m.files) != want {
			t.Errorf("it remembers %d files, want %d", len(m.files), want)
		}
	}
	write("a.yaml")
	write("b.yaml")
	load(2)
	if err := os.Remove(path("b.yaml")); err != nil {
		t.Fatal(err)
	}
	load(1)
	if err := os.Rename(path("a.yaml"), path("c.yaml")); err != nil {
		t.Fatal(err)
	}
	load(1)
	if err := os.Mkdir(path("d.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("e.yaml")
	load(2)
}
