package gitops

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestRetainOptions: the first option of a name counts, so that what keeps an excluded
// object replaces what the form says, be it of pruning or of deletion.
func TestRetainOptions(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"":                                    "Prune=false,Delete=false",
		"ServerSideApply=true":                "ServerSideApply=true,Prune=false,Delete=false",
		"Prune=confirm, ServerSideApply=true": "ServerSideApply=true,Prune=false,Delete=false",
		"Delete=confirm,Prune=true,":          "Prune=false,Delete=false",
		"Prune=false,Delete=false":            "Prune=false,Delete=false",
		"PruneLast=true,Prune=false":          "PruneLast=true,Prune=false,Delete=false",
	} {
		if got := withOptions(list, "Prune=false", "Delete=false"); got != want {
			t.Errorf("%q becomes %q, want %q", list, got, want)
		}
	}
}

// TestRetain: an excluded object keeps its text, and gets what keeps it in the cluster.
func TestRetain(t *testing.T) {
	t.Parallel()
	ref := lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	object := func(annotations string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: shop\n  annotations:\n" + annotations + "data:\n  plan: gold\n"
	}
	const policy, once = "    lynq.sh/deletion-policy: Delete\n", "    kustomize.toolkit.fluxcd.io/ssa: IfNotPresent\n"
	for _, test := range []struct {
		target      Target
		before      string
		after       string
		unprotected bool
	}{
		{TargetPlain, policy, policy, false},
		{TargetArgo, "    argocd.argoproj.io/sync-options: Prune=confirm\n", "    argocd.argoproj.io/sync-options: Prune=false,Delete=false\n", false},
		{TargetArgo, "    argocd.argoproj.io/sync-options: Prune=false,Delete=false\n", "    argocd.argoproj.io/sync-options: Prune=false,Delete=false\n", false},
		{TargetFlux, policy, policy + "    kustomize.toolkit.fluxcd.io/prune: 'disabled'\n", false},
		{TargetFlux, once + policy, once + policy + "    kustomize.toolkit.fluxcd.io/prune: 'disabled'\n", true},
		{TargetFlux, once + "    kustomize.toolkit.fluxcd.io/prune: disabled\n    lynq.sh/deletion-policy: Retain\n", once + "    kustomize.toolkit.fluxcd.io/prune: disabled\n    lynq.sh/deletion-policy: Retain\n", false},
	} {
		found := map[lynq.Ref][]byte{}
		if err := retain(found, []byte(object(test.before)), test.target); err != nil {
			t.Fatal(err)
		}
		if got := string(found[ref]); got != object(test.after) {
			t.Errorf("%s:\n%s\nwant\n%s", test.target, got, object(test.after))
		}
		if got := unprotected(test.target, found[ref]); got != test.unprotected {
			t.Errorf("%s, %s: unprotected is %v", test.target, test.before, got)
		}
	}
}
