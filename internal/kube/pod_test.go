package kube_test

import (
	"errors"
	"io/fs"
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/lynqctl/lynqctl/internal/kube"
)

// TestPodNamespace wants the namespace of the ServiceAccount, wherever client-go would use
// its token.
func TestPodNamespace(t *testing.T) {
	t.Parallel()
	const files = "/var/run/secrets/kubernetes.io/serviceaccount/"
	address := map[string]string{"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
	for name, c := range map[string]struct {
		env   map[string]string
		files map[string]string
		want  string
	}{
		"a pod":                     {address, map[string]string{"token": "t", "namespace": "shop\n"}, "shop"},
		"no pod":                    {nil, nil, ""},
		"files without the address": {map[string]string{"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, map[string]string{"token": "t", "namespace": "shop"}, ""},
		"a pod without a token":     {address, map[string]string{"namespace": "shop"}, ""},
		"a token without namespace": {address, map[string]string{"token": "t"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := func(file string) ([]byte, error) {
				text, found := c.files[path.Base(file)]
				if !found || files+path.Base(file) != file {
					return nil, &fs.PathError{Op: "open", Path: file, Err: errors.New("none")}
				}
				return []byte(text), nil
			}
			if got := kube.PodNamespace(func(key string) string { return c.env[key] }, read); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestPodImpersonates wants --as to work with a pod's ServiceAccount, too. client-go
// ignores it there.
func TestPodImpersonates(t *testing.T) {
	t.Parallel()
	var access kube.Access
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	access.Register(flags)
	if err := flags.Parse([]string{"--as=one", "--as-group=two", "--as-uid=3"}); err != nil {
		t.Fatal(err)
	}
	pod := &rest.Config{Host: "https://10.0.0.1", BearerTokenFile: "/token"}
	want := rest.ImpersonationConfig{UserName: "one", UID: "3", Groups: []string{"two"}}
	if diff := cmp.Diff(want, kube.Asked(access, pod).Impersonate); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := kube.Asked(kube.Access{}, &rest.Config{Impersonate: want}).Impersonate; got.UserName != "one" {
		t.Errorf("without flags: %+v, not the kubeconfig's", got)
	}
}
