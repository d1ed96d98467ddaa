// Package proxied gives tests lynqctl's own client with a cluster behind a recording proxy.
//
// Rules for the proxy flow in, and records of requests flow out. The proxy can make
// requests fail. The package never stops the cluster.
package proxied

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// API is such a cluster. The Env bypasses the proxy.
type API struct {
	*harness.Env
	Proxy  *faultproxy.Server
	Client *kube.Client
}

// New puts a proxy before a cluster.
func New(t *testing.T, cluster *harness.Shared) *API {
	t.Helper()
	env := cluster.Env(t)
	through, proxy := env.Proxy(t, faultproxy.Options{})
	client, err := kube.Access{Kubeconfig: through.Kubeconfig}.Client(kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &API{env, proxy, client}
}

// Requests returns the verbs of the requests since the last call.
func (a *API) Requests() []string {
	var verbs []string
	for _, r := range a.Proxy.Records() {
		verbs = append(verbs, r.Verb)
	}
	a.Proxy.Reset()
	return verbs
}

// SameRequests fails the test if Requests differ from want.
func (a *API) SameRequests(t *testing.T, what string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, a.Requests()); diff != "" {
		t.Errorf("requests of %s (-want +got):\n%s", what, diff)
	}
}
