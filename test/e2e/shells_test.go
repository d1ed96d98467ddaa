package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/test/shells"
)

// TestShells wants shells to offer names from the cluster, for lynqctl and kubectl's
// plugin. cmd/lynqctl tests shells without a cluster.
func TestShells(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	bin := built.in(t)
	inputs := t.TempDir()
	forms := strings.ReplaceAll(shellForms, "NAMESPACE", env.Namespace)
	if err := os.WriteFile(filepath.Join(inputs, "forms.yaml"), []byte(forms), 0o600); err != nil {
		t.Fatal(err)
	}
	path := strings.Join([]string{bin, filepath.Dir(cluster.Cluster(t).Kubectl), os.Getenv("PATH")}, string(filepath.ListSeparator))
	for _, args := range [][]string{
		{"apply", "-f", ".", "--source", "json:-"},
		{"delete", "node", "gone-tab", "--yes"},
	} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "lynqctl"), args...)
		cmd.Dir, cmd.Env = inputs, append(os.Environ(), "KUBECONFIG="+env.Kubeconfig)
		cmd.Stdin = strings.NewReader(`[{"id":"acme","active":1},{"id":"globex","active":1},{"id":"gone","active":1}]`)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("lynqctl %v: %v\n%s", args, err, out)
		}
	}
	for _, name := range shells.Shells() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shells.New(t, name, inputs, "PATH="+path, "KUBECONFIG="+env.Kubeconfig)
			s.Want(t, map[string][]string{
				"lynqctl status node ":                                           {"acme-tab", "globex-tab"},
				"lynqctl delete hub -n " + env.Namespace + " ":                   {env.Namespace},
				"lynqctl status -n " + env.Namespace[:12]:                        {env.Namespace},
				"lynqctl orphans prune -n " + env.Namespace + " ":                {"ConfigMap/" + env.Namespace + "/gone-kept"},
				"lynqctl status --context adm":                                   {"admin"},
				"kubectl lynq stat":                                              {"status"},
				"kubectl lynq status node ":                                      {"acme-tab", "globex-tab"},
				"kubectl lynq orphans prune -n " + env.Namespace + " --dry-run=": {"client", "none", "server"},
			})
		})
	}
}

// The hub has the name of the test's namespace.
const shellForms = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: NAMESPACE}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: tab}
spec:
  hubId: NAMESPACE
  configMaps:
  - {id: kept, nameTemplate: "{{ .uid }}-kept", deletionPolicy: Retain, spec: {apiVersion: v1, kind: ConfigMap}}
`
