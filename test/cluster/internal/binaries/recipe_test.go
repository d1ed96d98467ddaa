package binaries

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProgramsAreInToolsFile wants tools.go to keep every built program in go.mod.
func TestProgramsAreInToolsFile(t *testing.T) {
	tools, err := os.ReadFile(filepath.Join("..", "..", "tools.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs() {
		if !strings.Contains(string(tools), `_ "`+p.importPath+`"`) {
			t.Errorf("tools.go does not import %s", p.importPath)
		}
	}
	if got, want := strings.Count(string(tools), `_ "`), len(programs()); got != want {
		t.Errorf("tools.go imports %d commands, want %d", got, want)
	}
}

func TestCommandName(t *testing.T) {
	for importPath, want := range map[string]string{
		"go.etcd.io/etcd/server/v3":     "server",
		"k8s.io/kubernetes/cmd/kubectl": "kubectl",
	} {
		if got := commandName(importPath); got != want {
			t.Errorf("%s makes %s, want %s", importPath, got, want)
		}
	}
}

func TestLinkerFlags(t *testing.T) {
	flags := linkerFlags("v1.36.3")
	for _, want := range []string{
		"-s -w ",
		"-X k8s.io/component-base/version.gitVersion=v1.36.3",
		"-X k8s.io/component-base/version.gitMajor=1",
		"-X k8s.io/client-go/pkg/version.gitMinor=36",
	} {
		if !strings.Contains(flags, want) {
			t.Errorf("%q is not in %q", want, flags)
		}
	}
}

func TestKubernetesVersion(t *testing.T) {
	version, err := kubernetesVersion(t.Context(), filepath.Join("..", ".."), os.Stderr)
	if err != nil || !strings.HasPrefix(version, "v1.") {
		t.Errorf("got %q, %v", version, err)
	}
	if version, err := kubernetesVersion(t.Context(), t.TempDir(), new(strings.Builder)); err == nil {
		t.Errorf("without a module: %q", version)
	}
}
