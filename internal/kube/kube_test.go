package kube_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/test/harness"
)

// cluster is not shared: some of these tests define APIs that nobody serves, while which other
// packages could not list all kinds.
var cluster = harness.Shared{Own: true}

// TestSecretValues reads from a real API server, and wants helpful errors.
func TestSecretValues(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	env.Kubectl(t, "", "create", "secret", "generic", "db", "--from-literal=password=hunter2", "--from-literal=more=x")
	access := kube.Access{Kubeconfig: env.Kubeconfig}
	got, err := access.SecretValues(t.Context(), kube.Options{}, env.Namespace, "db", "password", "more")
	if err != nil || !slices.Equal(got, []endpoint.Secret{"hunter2", "x"}) {
		t.Fatalf("the password does not come through: %v", err)
	}
	for _, c := range []struct {
		access          kube.Access
		name, key, want string
	}{
		{access, "dbb", "password", `secrets "dbb" not found`},
		{access, "db", "passwd", "the cluster's Secret " + env.Namespace + `/db has no key "passwd"`},
		{kube.Access{Kubeconfig: env.As(t, "nobody-"+env.Namespace)}, "db", "password", `secrets "db" is forbidden: User "nobody-` + env.Namespace + `" cannot get resource "secrets"`},
		{kube.Access{Kubeconfig: env.Kubeconfig, Context: "nope"}, "db", "password", `the kubeconfig has no context "nope"`},
	} {
		_, err := c.access.SecretValues(t.Context(), kube.Options{}, env.Namespace, c.name, "password", c.key)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s/%s: got %v, want %s", c.name, c.key, err, c.want)
		}
	}
}

func TestNamespace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	text := `apiVersion: v1
kind: Config
current-context: one
contexts:
- {name: one, context: {cluster: c, namespace: first}}
- {name: two, context: {cluster: c}}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", path)
	for _, c := range []struct {
		access    kube.Access
		want, err string
	}{
		{kube.Access{}, "first", ""},
		{kube.Access{Context: "two"}, "", ""},
		{kube.Access{Context: "three"}, "", `the kubeconfig has no context "three" (available: one, two)`},
		{kube.Access{Kubeconfig: path + "x"}, "", "no such file"},
	} {
		t.Run(c.err, func(t *testing.T) {
			got, err := c.access.Namespace()
			if got != c.want || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v: %q, %v; want %q, %q", c.access, got, err, c.want, c.err)
			}
		})
	}
	t.Setenv("KUBECONFIG", path+"x")
	if got, err := (kube.Access{}).Namespace(); got != "" || err != nil {
		t.Errorf("without a kubeconfig: %q, %v", got, err)
	}
}
