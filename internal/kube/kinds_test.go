package kube_test

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/rbac"
)

var update = flag.Bool("update", false, "write the kinds that the API server serves into pkg/rbac/kinds.txt")

// TestBuiltInKinds: the table of Kubernetes' kinds is what the API server of the version
// that lynqctl is built with serves, and says of their scopes what kinds.ClusterScoped does.
func TestBuiltInKinds(t *testing.T) {
	// Not beside TestUnavailableGroup, while which not all kinds can be listed.
	client, err := kube.Access{Kubeconfig: cluster.Env(t).Kubeconfig}.Client(kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	served, err := client.Listable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	served = slices.DeleteFunc(served, func(r lynq.APIResource) bool { return !kinds.BuiltIn(r.Group) })
	text := rbac.BuiltInText(served)
	if *update {
		if err := os.WriteFile("../../pkg/rbac/kinds.txt", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(rbac.BuiltInText(rbac.BuiltIn()), text); diff != "" {
		t.Errorf("pkg/rbac/kinds.txt is out of date (make generate-kinds writes it): (-want +got):\n%s", diff)
	}
	for _, r := range rbac.BuiltIn() {
		if r.Namespaced == kinds.ClusterScoped(r.Group, r.Kind) {
			t.Errorf("%s: namespaced is %t, which kinds.ClusterScoped denies", r.Plural, r.Namespaced)
		}
	}
}
