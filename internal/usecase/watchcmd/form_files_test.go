package watchcmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lynqctl/lynqctl/test/inmemory/apiserver"
)

// TestFormFiles changes files of a form outside of the directory of inputs. The watch sees
// new ones, keeps objects of a missing one, and sees when it comes back.
func TestFormFiles(t *testing.T) {
	dir := t.TempDir()
	object := func(name string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .uid }}-" + name + "\"}\n"
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "base"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"hub.yaml": inputs + "  files: [base/app.yaml, \"base/o*.yaml\"]\n", "rows.csv": "id,active\nacme,1\n",
		"base/app.yaml": object("app"), "base/one.yaml": object("one"), "kubeconfig": memoryKubeconfig,
	} {
		write(name, text)
	}
	managers, err := apiserver.NewManagers()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		server, said, stop := watching(t, managers, dir)
		defer stop()
		from := 0
		until := func(text string) {
			t.Helper()
			for wait := time.After(2 * time.Minute); !strings.Contains(said.String()[from:], text); {
				select {
				case <-time.After(time.Second):
				case <-wait:
					t.Fatalf("the watch doesn't say %q:\n%s", text, said)
				}
			}
			from = len(said.String())
		}
		until("changed=3")
		before := uidOfConfigMap(t, server, "acme-app")
		write("base/other.yaml", object("other"))
		until("base/other.yaml")
		until("changed=1")
		uidOfConfigMap(t, server, "acme-other")
		if err := os.Remove(filepath.Join(dir, "base/app.yaml")); err != nil {
			t.Fatal(err)
		}
		until("base/app.yaml: no such file")
		write("base/app.yaml", object("app")+"data: {a: b}\n")
		until("changed=1")
		if after := uidOfConfigMap(t, server, "acme-app"); after != before {
			t.Errorf("the object is another one: %s, %s", before, after)
		}
	})
}
