package gitops

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/test/harness"
)

// TestSchemas wants the objects that point Argo CD and Flux at a tree to match their
// definitions. The API server checks them, and refuses unknown fields.
func TestSchemas(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	definitions := filepath.Join("testdata", "crds")
	env.Kubectl(t, "", "apply", "--server-side", "-f", definitions)
	for _, name := range []string{"applications.argoproj.io", "applicationsets.argoproj.io", "kustomizations.kustomize.toolkit.fluxcd.io", "gitrepositories.source.toolkit.fluxcd.io"} {
		env.Wait(t, "customresourcedefinition/"+name, harness.ConditionTrue("Established"))
	}
	for _, flags := range [][]string{
		{"--target=argo", "--emit-apps=applications", "--repo-url=https://git.example/tenants"},
		{"--target=argo", "--emit-apps=applicationset", "--repo-url=https://git.example/tenants", "--revision=v1", "--spread", "--app-project=tenants", "--dest-name=prod"},
		{"--target=flux", "--emit-apps=kustomizations"},
		{"--target=flux", "--emit-apps=ordered-kustomizations", "--repo-url=https://git.example/tenants", "--repo-path=tree"},
	} {
		r := newRepository(t, env.Namespace)
		r.rows(t, "acme,1,basic,v1", "beta,1,basic,v1")
		r.renderTree(t, append(flags, "--app-namespace="+env.Namespace)...)
		env.Kubectl(t, "", "create", "--dry-run=server", "--validate=strict", "-R", "-f", filepath.Join(r.tree(), "apps"))
		env.Kubectl(t, "", "create", "--dry-run=server", "--validate=strict", "-f", filepath.Join(r.tree(), "lynqctl_bootstrap.yaml"))
	}
	if _, err := env.TryKubectl(t, `{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: x}, spec: {project: x, destination: {}, sync: {}}}`,
		"create", "--dry-run=server", "--validate=strict", "-f", "-"); err == nil || !strings.Contains(err.Error(), `unknown field "spec.sync"`) {
		t.Errorf("a field that there is not: %v", err)
	}
}
