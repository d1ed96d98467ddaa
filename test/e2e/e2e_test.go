package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lynqctl/lynqctl/test/harness"
)

var cluster harness.Shared

func TestScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, &cluster, filepath.Join("testdata", "*.txtar"))
}

// runScripts runs scripts on a cluster, each in a namespace of its own.
func runScripts(t *testing.T, cluster *harness.Shared, pattern string) {
	t.Helper()
	kubectl := cluster.Cluster(t).Kubectl
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	bin := buildLynqctl(t, root)
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
					return nil
				},
			})
		})
	}
}

// buildLynqctl builds the program of this tree and returns its directory.
func buildLynqctl(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "lynqctl"), "./cmd/lynqctl")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building lynqctl: %v\n%s", err, out)
	}
	// kubectl finds it there as its plugin, too.
	for name, target := range map[string]string{
		"kubectl-lynq":          filepath.Join(dir, "lynqctl"),
		"kubectl_complete-lynq": filepath.Join(root, "completions", "kubectl_complete-lynq"),
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
