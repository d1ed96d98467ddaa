package gitops

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// TestBuild wants kustomize to make the same objects from the tree as render prints, for
// each target and each arrangement.
func TestBuild(t *testing.T) {
	for _, target := range []string{"plain", "argo", "flux"} {
		for _, arrangement := range [][]string{nil, {"--spread"}, {"--layout=node-file"}, {"--layout=node-file", "--spread"}} {
			r := newRepository(t, "default")
			r.rows(t, "acme,1,pro,v1", `beta,1,"${basic} ""x"": [é",v2`, "gone,0,x,v1")
			stream := objects(t, []byte(r.render(t, "--target="+target)))
			r.renderTree(t, append([]string{"--target=" + target}, arrangement...)...)
			m, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), r.tree())
			if err != nil {
				t.Fatalf("%s %v: %v", target, arrangement, err)
			}
			text, err := m.AsYaml()
			if err != nil {
				t.Fatal(err)
			}
			if len(stream) != 2*9 {
				t.Fatalf("the stream has %d objects", len(stream))
			}
			if diff := cmp.Diff(byKey(t, stream), byKey(t, objects(t, text))); diff != "" {
				t.Errorf("%s %v: %s", target, arrangement, diff)
			}
			checkFolders(t, r, stream, arrangement)
		}
	}
}

// checkFolders builds each node's folder alone.
func checkFolders(t *testing.T, r *repository, stream []*unstructured.Unstructured, arrangement []string) {
	t.Helper()
	if len(arrangement) > 0 {
		return
	}
	built := map[string]any{}
	for _, node := range []string{"acme-web", "beta-web"} {
		folders, err := filepath.Glob(filepath.Join(r.tree(), node))
		if err != nil || len(folders) != 1 {
			t.Fatalf("%s: %v %v", node, folders, err)
		}
		m, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folders[0])
		if err != nil {
			t.Fatal(err)
		}
		text, err := m.AsYaml()
		if err != nil {
			t.Fatal(err)
		}
		for key, o := range byKey(t, objects(t, text)) {
			built[key] = o
		}
	}
	if diff := cmp.Diff(byKey(t, stream), built); diff != "" {
		t.Errorf("the nodes' folders: %s", diff)
	}
}

// byKey returns objects by key, and fails for duplicates.
func byKey(t *testing.T, all []*unstructured.Unstructured) map[string]any {
	t.Helper()
	m := map[string]any{}
	for _, o := range all {
		key := o.GroupVersionKind().String() + " " + o.GetNamespace() + "/" + o.GetName()
		if m[key] != nil {
			t.Errorf("%s appears twice", key)
		}
		m[key] = o.Object
	}
	return m
}
