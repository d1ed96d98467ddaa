package form_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/form"
)

// TestBeside lists the files that inputs name, and the directories that a watch must see.
func TestBeside(t *testing.T) {
	object := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "
	t.Chdir(tree(t, map[string]string{
		"in/crm.yaml": aroundDoc(t, "hub crm") + "  lookups: [{name: sizes, column: plan, file: sizes.yaml}]\n---\n" +
			aroundDoc(t, "form crm/web own") + "  files: [one.yaml, 'base/*.yaml', 'apps/*/app.yaml']\n",
		"in/sizes.yaml": "gold: {cpu: 1}\n", "in/one.yaml": object + "one}\n", "in/base/two.yaml": object + "two}\n",
		"in/base/.hidden.yaml": "kind: [", "in/apps/a/app.yaml": object + "a}\n", "in/apps/b/other/app.yaml": object + "b}\n",
	}))
	in, err := form.Load([]string{"in"}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	paths, dirs := in.Beside()
	if diff := cmp.Diff([]string{"in/sizes.yaml", "in/one.yaml", "in/base/two.yaml", "in/apps/a/app.yaml"}, paths); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"in/base", "in/apps/a", "in/apps/b"}, dirs); diff != "" {
		t.Error(diff)
	}
}

// TestVersionOfUncleanPath finds files by unclean paths in earlier texts, too. Otherwise a
// change of such a file would have no edit that explains it.
func TestVersionOfUncleanPath(t *testing.T) {
	object := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n"
	t.Chdir(tree(t, map[string]string{
		"crm.yaml": aroundDoc(t, "hub crm") + "---\n" + aroundDoc(t, "form crm/web own") + "  files: [./one.yml, 'base//*.yml']\n",
		"one.yml":  object, "base/two.yml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\n",
	}))
	in, err := form.Load([]string{"crm.yaml"}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	now := in.Forms[0]
	before := now.Version(now, "one.yml", []byte(object+"data: {a: b}\n"))
	if before == nil || len(before.Resources) != len(now.Resources) {
		t.Errorf("the earlier version is %v", before)
	}
}
