package chart

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// Name is the name of the helper's program.
const Name = "lynqctl-chart"

// Command returns the command that runs the helper: the program beside this one, or else in
// PATH. Links to this program are followed, because kubectl plugins are links.
func Command() (*exec.Cmd, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return nil, fmt.Errorf("find the program of lynqctl: %w", err)
	}
	program, err := find(filepath.Dir(self), exec.LookPath)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "serve") //nolint:gosec // it is lynqctl's own
	cmd.Env = environment(os.Getenv)
	return cmd, nil
}

// find returns the path of the helper in a directory, or else in PATH.
func find(dir string, look func(string) (string, error)) (string, error) {
	name := Name
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	beside := filepath.Join(dir, name)
	info, err := os.Stat(beside)
	if err == nil && !info.IsDir() {
		return beside, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("find %s: %w", Name, err)
	}
	program, err := look(Name)
	if err == nil {
		return program, nil
	}
	return "", fmt.Errorf("can't find the program %s, which builds kustomizations and charts. It is neither in %s, beside lynqctl, nor in PATH. "+
		"Copy it there from the archive of the same release, or run: go install github.com/lynqctl/lynqctl/cmd/...@latest", Name, dir)
}

// environment returns the few variables that the helper gets. Without PATH, its libraries
// find no git. The helper, and not lynqctl, reads files with credentials, and only to download
// a chart that its cache doesn't have. So it needs the variables that name them. It removes all
// variables before it opens a chart, so that no chart can show a password of a proxy.
func environment(getenv func(string) string) []string {
	env := []string{}
	for _, name := range slices.Concat([]string{"GOMEMLIMIT", "GOMAXPROCS", "SYSTEMROOT"}, wire.Variables()) {
		if value := getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}
