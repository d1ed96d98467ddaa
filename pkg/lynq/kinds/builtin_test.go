package kinds_test

import (
	"testing"

	"k8s.io/client-go/kubernetes/scheme"

	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
)

// Every group that client-go has types of is built in.
func TestBuiltIn(t *testing.T) {
	groups := map[string]bool{"apiextensions.k8s.io": true, "apiregistration.k8s.io": true}
	for _, version := range scheme.Scheme.PrioritizedVersionsAllGroups() {
		groups[version.Group] = true
	}
	for group := range groups {
		if !kinds.BuiltIn(group) {
			t.Errorf("group %q is not built in", group)
		}
	}
	for _, group := range []string{"gateway.networking.k8s.io", "snapshot.storage.k8s.io", "metrics.k8s.io", "example.com", "gateway", "k8s.io", ".k8s.io"} {
		t.Run(group, func(t *testing.T) {
			if kinds.BuiltIn(group) {
				t.Errorf("group %q is built in", group)
			}
		})
	}
}
