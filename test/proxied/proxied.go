// Package proxied is a cluster for tests of what lynqctl asks of it: behind a proxy that
// records requests and makes them fail, with lynqctl's own client in front.
package proxied

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// API is such a cluster. The Env goes around the proxy.
type API struct {
	*harness.Env
	Proxy  *faultproxy.Server
	Client *kube.Client
}

// New puts a proxy in front of a cluster.
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

// Requests gives the verbs that were asked for since the last time.
func (a *API) Requests() []string {
	var verbs []string
	for _, r := range a.Proxy.Records() {
		verbs = append(verbs, r.Verb)
	}
	a.Proxy.Reset()
	return verbs
}

// SameRequests fails the test where Requests are others.
func (a *API) SameRequests(t *testing.T, what string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, a.Requests()); diff != "" {
		t.Errorf("requests of %s (-want +got):\n%s", what, diff)
	}
}
