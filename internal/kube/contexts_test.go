package kube_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/kube"
)

func TestContexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	text := "apiVersion: v1\nkind: Config\ncontexts:\n- {name: two, context: {}}\n- {name: one, context: {}}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := kube.Access{Kubeconfig: path}.Contexts()
	if diff := cmp.Diff([]string{"one", "two"}, got); err != nil || diff != "" {
		t.Errorf("error %v, contexts %s", err, diff)
	}
	if got, err := (kube.Access{Kubeconfig: path + "x"}).Contexts(); err == nil {
		t.Errorf("a missing kubeconfig has contexts %v", got)
	}
}
