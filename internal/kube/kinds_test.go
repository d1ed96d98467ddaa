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

var update = flag.Bool("update", false, "write the kinds that the API server serves into pkg/lynq/kinds/kinds.txt")

// TestBuiltInKinds compares the table of Kubernetes' kinds with the API server of lynqctl's
// Kubernetes version. It does the same for the scopes in kinds.ClusterScoped.
func TestBuiltInKinds(t *testing.T) {
	// Not in parallel with TestUnavailableGroup, during which some kinds can't be listed.
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
		if err := os.WriteFile("../../pkg/lynq/kinds/kinds.txt", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(rbac.BuiltInText(rbac.BuiltIn()), text); diff != "" {
		t.Errorf("pkg/lynq/kinds/kinds.txt is out of date (make generate-kinds writes it): (-want +got):\n%s", diff)
	}
	for _, r := range rbac.BuiltIn() {
		if r.Namespaced == kinds.ClusterScoped(r.Group, r.Kind) {
			t.Errorf("%s: namespaced is %t, which kinds.ClusterScoped denies", r.Plural, r.Namespaced)
		}
	}
}
