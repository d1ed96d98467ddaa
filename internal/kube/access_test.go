package kube_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/internal/kube"
)

// TestRegister wants kubectl's flags for a kubeconfig. --namespace belongs to the command,
// and the flags of kubectl's cache are missing.
func TestRegister(t *testing.T) {
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	(&kube.Access{}).Register(flags)
	var got []string
	flags.VisitAll(func(f *pflag.Flag) { got = append(got, f.Name) })
	want := []string{
		"as", "as-group", "as-uid", "certificate-authority", "client-certificate", "client-key", "cluster", "context",
		"disable-compression", "insecure-skip-tls-verify", "kubeconfig", "proxy-url", "request-timeout", "server",
		"tls-server-name", "token", "user",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFlags wants the flags to mean the same as in kubectl.
func TestFlags(t *testing.T) {
	t.Parallel()
	env := cluster.Env(t)
	env.Kubectl(t, "", "create", "configmap", "m")
	for _, c := range []struct {
		args []string
		want string // the error
	}{
		{nil, ""},
		{[]string{"--as=one", "--as-group=two"}, `User "one" cannot get`},
		{[]string{"--as=one", "--as-group=system:masters"}, ""},
		{[]string{"--token=wrong"}, "Unauthorized"},
		{[]string{"--context=restricted"}, "cannot get resource"},
		{[]string{"--context=nope"}, `the kubeconfig has no context "nope" (available: admin, editor, restricted, viewer)`},
		{[]string{"--user=nope"}, `the kubeconfig has no user "nope"`},
		{[]string{"--cluster=nope"}, `the kubeconfig has no cluster "nope"`},
		{[]string{"--tls-server-name=nope.example"}, "nope.example"},
		{[]string{"--certificate-authority=/nope"}, "/nope"},
		{[]string{"--insecure-skip-tls-verify"}, ""},
		{[]string{"--request-timeout=1m"}, ""},
		{[]string{"--request-timeout=soon"}, "Invalid timeout value"},
	} {
		var access kube.Access
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		access.Register(flags)
		if err := flags.Parse(append([]string{"--kubeconfig=" + env.Kubeconfig}, c.args...)); err != nil {
			t.Fatal(err)
		}
		client, err := access.Client(kube.Options{})
		if err == nil {
			_, err = client.Metadata(t.Context(), configMaps, env.Namespace, "m")
		}
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.args, err, c.want)
		}
	}
}

func TestServerThatIsNotThere(t *testing.T) {
	t.Parallel()
	var access kube.Access
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	access.Register(flags)
	config := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(config, []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := flags.Parse([]string{"--kubeconfig=" + config}); err != nil {
		t.Fatal(err)
	}
	if _, err := access.Client(kube.Options{}); err == nil || !strings.Contains(err.Error(), "no cluster is configured in "+config) {
		t.Errorf("got %v", err)
	}
	if err := flags.Parse([]string{"--server=https://127.0.0.1:1"}); err != nil {
		t.Fatal(err)
	}
	client, err := access.Client(kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := &through{}
	_, err = c.with(client).Metadata(t.Context(), configMaps, "n", "m")
	want := "get configmaps n/m at https://127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused (tried 7 times)"
	if err == nil || err.Error() != want || apierrors.IsNotFound(err) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestNamespaceStays wants a command to keep the namespace with which it began, even if
// somebody changes the context meanwhile. If it couldn't read the kubeconfig, it reads it
// again.
func TestNamespaceStays(t *testing.T) {
	t.Parallel()
	var access kube.Access
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	access.Register(flags)
	config := filepath.Join(t.TempDir(), "config")
	if err := flags.Parse([]string{"--kubeconfig=" + config}); err != nil {
		t.Fatal(err)
	}
	if got, err := access.Namespace(); err == nil {
		t.Errorf("there is no kubeconfig, and the namespace is %q", got)
	}
	for _, namespace := range []string{"shop", "other"} {
		text := "{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, namespace: " + namespace + "}}]}"
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := access.Namespace(); err != nil || got != "shop" {
			t.Errorf("the context has namespace %s: %q, %v, want shop", namespace, got, err)
		}
	}
}
