package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lynqctl/lynqctl/test/shells"
)

// TestShells wants shells to load the completion scripts. They must offer commands, flags
// and their words, names from inputs and the kubeconfig, and files. test/e2e tests names
// from a cluster.
func TestShells(t *testing.T) {
	t.Parallel()
	for _, name := range shells.Shells() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range map[string]string{
				"forms.yaml": shellForms, "rows.csv": "id,active\nacme,1\ngone,0\nzeta,yes\n", "kubeconfig": shellKubeconfig,
			} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s := shells.New(t, name, dir, "KUBECONFIG="+filepath.Join(dir, "kubeconfig"))
			s.Want(t, map[string][]string{
				"lynqctl stat":                        {"status"},
				"lynqctl status ":                     {"form", "hub", "node"},
				"lynqctl status nope":                 {},
				"lynqctl render --output-d":           {"--output-dir"},
				"lynqctl render -f . --target ":       {"argo", "flux", "plain"},
				"lynqctl graph -f . --output=":        {"dot", "mermaid", "text"},
				"lynqctl graph -f . --output=m":       {"mermaid"},
				"lynqctl render -f . --hub ":          {"crm"},
				"lynqctl render -f . --form d":        {"db"},
				"lynqctl apply -f . --node ":          {"acme-db", "acme-web", "zeta-db", "zeta-web"},
				"lynqctl apply -f . --node=acme-db,z": {"acme-db,zeta-db", "acme-db,zeta-web"},
				"lynqctl status --context ":           {"dead", "other"},
			})
		})
	}
}

const shellForms = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: crm}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: crm
  configMaps: [{id: c, nameTemplate: "{{ .uid }}", spec: {apiVersion: v1, kind: ConfigMap}}]
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: db}
spec:
  hubId: crm
  configMaps: [{id: c, nameTemplate: "{{ .uid }}-db", spec: {apiVersion: v1, kind: ConfigMap}}]
`

const shellKubeconfig = `apiVersion: v1
kind: Config
current-context: dead
clusters: [{name: dead, cluster: {server: "http://127.0.0.1:1"}}]
contexts:
- {name: dead, context: {cluster: dead}}
- {name: other, context: {cluster: dead}}
`
