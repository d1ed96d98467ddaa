package gitops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestPatchesOfPage patches all Kustomizations as the documentation says. Flux builds apps/
// without a kustomization.yaml of its own.
func TestPatchesOfPage(t *testing.T) {
	t.Parallel()
	f := newFlux(t, cluster.Env(t))
	f.rows(t, "acme,1,basic,v1", "beta,1,basic,v1")
	f.renderTree(t, "--target=flux", "--emit-apps=kustomizations", "--repo-path=tree")
	text, err := os.ReadFile(filepath.Join(f.tree(), "lynqctl_bootstrap.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/gitops-policies.md")
	if err != nil {
		t.Fatal(err)
	}
	_, patches, _ := strings.Cut(string(page), "# below spec of Kustomization lynqctl-apps\n")
	patches, _, _ = strings.Cut(patches, "```")
	bootstrap := &unstructured.Unstructured{}
	var spec struct{ Patches []any }
	if err := yaml.Unmarshal(text, &bootstrap.Object); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(patches), &spec); err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedSlice(bootstrap.Object, spec.Patches, "spec", "patches"); err != nil {
		t.Fatal(err)
	}
	built := f.build(t, bootstrap)
	if len(built) != 2 {
		t.Fatalf("%d objects, want 2", len(built))
	}
	for _, k := range built {
		if name, _, _ := unstructured.NestedString(k.Object, "spec", "kubeConfig", "secretRef", "name"); name != "cluster-eu" {
			t.Errorf("Kustomization %s has kubeConfig %q", k.GetName(), name)
		}
	}
}
