package lease_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

var cluster harness.Shared

// api is a cluster behind a fault proxy.
type api struct {
	*harness.Env // around the proxy
	proxy        *faultproxy.Server
	client       *kube.Client
}

func newAPI(t *testing.T) *api {
	t.Helper()
	env := cluster.Env(t)
	through, proxy := env.Proxy(t, faultproxy.Options{})
	client, err := kube.Access{Kubeconfig: through.Kubeconfig}.Client(kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &api{env, proxy, client}
}

// requests gives the verbs that were asked for since the last time.
func (a *api) requests() []string {
	var verbs []string
	for _, r := range a.proxy.Records() {
		verbs = append(verbs, r.Verb)
	}
	a.proxy.Reset()
	return verbs
}

func (a *api) sameRequests(t *testing.T, what string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, a.requests()); diff != "" {
		t.Errorf("requests of %s (-want +got):\n%s", what, diff)
	}
}
