// Package chartbin builds lynqctl-chart for tests that run lynqctl.
package chartbin

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Program is lynqctl-chart of this tree, built like a release when the first test asks for it.
// The zero value is ready. Remove removes it.
type Program struct {
	once sync.Once
	dir  string
	err  error
}

// In returns the directory of the program. root is the source tree.
func (p *Program) In(t testing.TB, root string) string {
	t.Helper()
	p.once.Do(func() {
		if p.dir, p.err = os.MkdirTemp("", "lynqctl-chart-*"); p.err == nil {
			p.err = Build(root, p.dir)
		}
	})
	if p.err != nil {
		t.Fatalf("building lynqctl-chart: %v", p.err)
	}
	return p.dir
}

// Remove removes the program, if it was built.
func (p *Program) Remove() error {
	if p.dir == "" {
		return nil
	}
	return os.RemoveAll(p.dir)
}

// Build builds the program of a source tree in a directory.
func Build(root, dir string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(dir, "lynqctl-chart"), "./cmd/lynqctl-chart")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}
