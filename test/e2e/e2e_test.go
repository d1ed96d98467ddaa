package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lynqctl/lynqctl/test/chartbin"
	"github.com/lynqctl/lynqctl/test/harness"
)

var (
	cluster = harness.Shared{Busy: true}
	built   program
	clocked program // lynqctl with another clock
)

const sourceTree = "../.."

func TestMain(m *testing.M) {
	code := m.Run()
	if err := databases.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	_ = os.RemoveAll(built.dir) // a temporary directory
	_ = os.RemoveAll(clocked.dir)
	os.Exit(code)
}

func TestScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, &cluster, filepath.Join("testdata", "*.txtar"))
}

// runScripts runs scripts on a cluster, each in its own namespace.
func runScripts(t *testing.T, cluster *harness.Shared, pattern string) {
	t.Helper()
	kubectl := cluster.Cluster(t).Kubectl
	root, err := filepath.Abs(sourceTree)
	if err != nil {
		t.Fatal(err)
	}
	bin := built.in(t)
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			s := &script{t: t, env: cluster.Env(t)}
			testscript.Run(t, testscript.Params{
				Files:               []string{file},
				RequireExplicitExec: true,
				Cmds:                s.commands(),
				Setup: func(e *testscript.Env) error {
					e.Setenv("PATH", strings.Join([]string{bin, filepath.Dir(kubectl), e.Getenv("PATH")}, string(filepath.ListSeparator)))
					e.Setenv("KUBECONFIG", s.env.Kubeconfig)
					e.Setenv("NAMESPACE", s.env.Namespace)
					e.Setenv("EXAMPLES", filepath.Join(root, "examples"))
					e.Setenv("GOGC", "400") // thousands of short processes would spend a tenth of their time on garbage
					return nil
				},
			})
		})
	}
}

// program is lynqctl of this tree, built like a release when the first test asks for it.
type program struct {
	once sync.Once
	dir  string
	err  error
}

// in returns the directory of the program, which also contains kubectl's plugin.
func (p *program) in(t *testing.T) string {
	t.Helper()
	p.once.Do(func() { p.err = p.build() })
	if p.err != nil {
		t.Fatalf("building lynqctl: %v", p.err)
	}
	return p.dir
}

// of returns the path of a program of this tree, built when the first test asks for it.
func (p *program) of(t *testing.T, name, from string) string {
	t.Helper()
	p.once.Do(func() { p.err = p.compile(name, from) })
	if p.err != nil {
		t.Fatalf("building %s: %v", from, p.err)
	}
	return filepath.Join(p.dir, name)
}

func (p *program) compile(name, from string) error {
	root, err := filepath.Abs(sourceTree)
	if err != nil {
		return err
	}
	if p.dir, err = os.MkdirTemp("", "lynqctl-e2e-*"); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(p.dir, name), from)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

func (p *program) build() error {
	root, err := filepath.Abs(sourceTree)
	if err != nil {
		return err
	}
	if err := p.compile("lynqctl", "./cmd/lynqctl"); err != nil {
		return err
	}
	binary := filepath.Join(p.dir, "lynqctl")
	return errors.Join(
		chartbin.Build(root, p.dir),
		os.Symlink(binary, filepath.Join(p.dir, "kubectl-lynq")),
		os.Symlink(filepath.Join(root, "completions", "kubectl_complete-lynq"), filepath.Join(p.dir, "kubectl_complete-lynq")),
	)
}

// lynqctl returns the path of this tree's program.
func lynqctl(t *testing.T) string {
	t.Helper()
	return filepath.Join(built.in(t), "lynqctl")
}
