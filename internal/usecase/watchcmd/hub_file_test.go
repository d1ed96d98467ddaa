package watchcmd_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/delete"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/test/inmemory/apiserver"
)

// TestHubFileRemoved removes the file of a hub under a running watch, while its form stays.
// The watch keeps the hub. So it isn't deleted, and the refusal doesn't say that a file has it.
func TestHubFileRemoved(t *testing.T) {
	dir := t.TempDir()
	hub, form, _ := strings.Cut(inputs, "---\n")
	for name, text := range map[string]string{"hub.yaml": hub, "form.yaml": form, "rows.csv": "id,active\nacme,1\n", "kubeconfig": memoryKubeconfig} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
	managers, err := apiserver.NewManagers()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		server, said, stop := watching(t, managers, dir)
		defer stop()
		until := func(text string) {
			t.Helper()
			for wait := time.After(time.Minute); !strings.Contains(said.String(), text); {
				select {
				case <-time.After(time.Second):
				case <-wait:
					t.Fatalf("the watch doesn't say %q:\n%s", text, said)
				}
			}
		}
		until("changed=1")
		before := uidOfConfigMap(t, server, "acme")
		if err := os.Remove(filepath.Join(dir, "hub.yaml")); err != nil {
			t.Fatal(err)
		}
		until("so watch uses the last good ones")

		w := &watcher{}
		e := &session.Engine{Stdin: strings.NewReader(""), Getenv: func(string) string { return "" }, Version: "test", View: w, Transport: server}
		err := delete.Run(t.Context(), e, &delete.Options{
			RemoveOptions: delete.RemoveOptions{Run: session.DefaultRunOptions(), Access: kube.Access{Kubeconfig: filepath.Join(dir, "kubeconfig")}},
			Targets:       []delete.Target{{What: "hub", Name: "engine", Namespace: "default"}}, Cascade: plan.CascadeOrdered,
		})
		var known *session.Error
		if !errors.As(err, &known) || known.Outcome != session.Refused || len(w.refused) != 1 || w.refused[0].Guard != plan.GuardWatched {
			t.Fatalf("delete hub: %v %+v %q", err, w.refused, w.notes)
		}
		if what := w.refused[0].What; !strings.HasSuffix(what, ", keeps the hub, and would create everything again") {
			t.Errorf("delete hub: %s", what)
		}
		for _, name := range []string{"acme", "lynqnode-acme-web", "lynqhub-engine"} {
			uidOfConfigMap(t, server, name)
		}
		if after := uidOfConfigMap(t, server, "acme"); after != before {
			t.Errorf("the object is another one: %s, %s", before, after)
		}
	})
}

// uidOfConfigMap returns the uid of a ConfigMap that exists and that nobody deletes.
func uidOfConfigMap(t *testing.T, server http.RoundTripper, name string) string {
	t.Helper()
	metadata, _ := send(t, server, http.MethodGet, "/api/v1/namespaces/default/configmaps/"+name, nil)["metadata"].(map[string]any)
	uid, _ := metadata["uid"].(string)
	if uid == "" || metadata["deletionTimestamp"] != nil {
		t.Errorf("ConfigMap %s: %v", name, metadata)
	}
	return uid
}
