package lynq_test

import (
	"testing"

	"k8s.io/client-go/kubernetes/scheme"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Every group that client-go has types of is built in.
func TestBuiltIn(t *testing.T) {
	groups := map[string]bool{"apiextensions.k8s.io": true, "apiregistration.k8s.io": true}
	for _, version := range scheme.Scheme.PrioritizedVersionsAllGroups() {
		groups[version.Group] = true
	}
	for group := range groups {
		if !lynq.BuiltIn(group) {
			t.Errorf("group %q is not built in", group)
		}
	}
	for _, group := range []string{"gateway.networking.k8s.io", "snapshot.storage.k8s.io", "metrics.k8s.io", "example.com", "gateway", "k8s.io", ".k8s.io"} {
		if lynq.BuiltIn(group) {
			t.Errorf("group %q is built in", group)
		}
	}
}

// Owner references to inventories are told from those to other ConfigMaps.
func TestOwnerNode(t *testing.T) {
	for _, test := range []struct {
		apiVersion, kind, name, node string
		is                           bool
	}{
		{"v1", "ConfigMap", "lynqnode-acme-web", "acme-web", true},
		{"v1", "ConfigMap", "acme-web", "", false},
		{"v1", "Secret", "lynqnode-acme-web", "", false},
		{"example.com/v1", "ConfigMap", "lynqnode-acme-web", "", false},
		{"v1", "ConfigMap", "lynqcopy-acme-web", "", false},
	} {
		node, is := lynq.OwnerNode(test.apiVersion, test.kind, test.name)
		if is != test.is || is && node != test.node {
			t.Errorf("%+v: %q, %t", test, node, is)
		}
		reference := map[string]any{"apiVersion": test.apiVersion, "kind": test.kind, "name": test.name}
		if lynq.IsOwnerNode(reference) != test.is {
			t.Errorf("%v", reference)
		}
	}
	if lynq.IsOwnerNode("text") || lynq.IsOwnerNode(map[string]any{"name": 1}) {
		t.Error("what is no reference leads to an inventory")
	}
}
