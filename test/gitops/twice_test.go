package gitops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// TestOneObjectTwice wants kustomize to build the whole tree after any runs. lynqctl must
// refuse a run that would give two nodes the same object: after a form was renamed, and for
// a later second hub.
func TestOneObjectTwice(t *testing.T) {
	r := newRepository(t, "default")
	r.rows(t, "acme,1,pro,v1", "beta,1,pro,v1")
	r.renderTree(t)
	before := r.build(t)
	forms, err := os.ReadFile(filepath.Join(r.dir, "forms.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	hub, form := "metadata: {name: tenants}", "metadata: {name: web}"
	for _, change := range []*strings.Replacer{
		strings.NewReplacer(form, "metadata: {name: shop}"),
		strings.NewReplacer(hub, "metadata: {name: others}", form, "metadata: {name: shop}", "hubId: tenants", "hubId: others"),
	} {
		r.write(t, "forms.yaml", change.Replace(string(forms)))
		r.refused(t, "renders ConfigMap/default/acme-merged, and the tree has it in acme-web/configmap-acme-merged.yaml", "--output-dir", r.tree(), "--plain-secrets", "--max-delete=100%", "--force")
		if after := r.build(t); after != before {
			t.Errorf("the tree is another:\n%s", after)
		}
	}
	for _, node := range []string{"acme-web", "beta-web"} {
		if err := os.RemoveAll(filepath.Join(r.tree(), node)); err != nil {
			t.Fatal(err)
		}
	}
	r.renderTree(t)
	if got, want := len(objects(t, []byte(r.build(t)))), len(objects(t, []byte(before))); got != want {
		t.Errorf("there are %d objects, and there were %d", got, want)
	}
}

// build returns kustomize's output for the whole tree.
func (r *repository) build(t *testing.T) string {
	t.Helper()
	m, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), r.tree())
	if err != nil {
		t.Fatal(err)
	}
	text, err := m.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
