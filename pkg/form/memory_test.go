package form_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lynqctl/lynqctl/pkg/form"
)

// TestMemory checks that a memory gives what files say now, problems included, and reads
// again only the files that have changed.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var memory form.Memory
	load := func() *form.Inputs {
		t.Helper()
		in, err := memory.Load(nil, []string{dir}, false, nil)
		fresh, freshErr := form.Load([]string{dir}, false, nil)
		if diff := cmp.Diff(fresh, in, cmpopts.IgnoreUnexported(form.Form{}, form.Inputs{})); diff != "" {
			t.Errorf("inputs (-read +remembered):\n%s", diff)
		}
		if diff := cmp.Diff(freshErr, err); diff != "" {
			t.Errorf("problems (-read +remembered):\n%s", diff)
		}
		return in
	}
	const definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n" +
		"spec: {group: example.com, scope: Cluster, names: {kind: Thing, plural: things}}\n"
	write("hub.yaml", aroundDoc(t, "hub a")+"---\n"+definition)
	write("one.yaml", aroundDoc(t, "form a/one first"))
	write("two.yaml", aroundDoc(t, "form a/two first"))
	before := load()
	write("two.yaml", aroundDoc(t, "form a/two second"))
	after := load()
	if len(before.Forms) != 2 || len(after.Forms) != 2 || !after.ClusterScoped[form.GroupKind{Group: "example.com", Kind: "Thing"}] {
		t.Fatalf("%d forms, then %d, and %v", len(before.Forms), len(after.Forms), after.ClusterScoped)
	}
	if before.Forms[0] != after.Forms[0] || before.Hubs[0] != after.Hubs[0] {
		t.Error("a file that stays was read again")
	}
	if before.Forms[1] == after.Forms[1] {
		t.Error("a changed file was not read again")
	}
	for _, text := range []string{"broken: [", "kind: LynqForm", aroundDoc(t, "form b/two first"), aroundDoc(t, "form a/one first"), "{}"} {
		write("two.yaml", text)
		for range 2 {
			load()
		}
	}
}
