package wellknown_test

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

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
		t.Run(test.name, func(t *testing.T) {
			node, is := wellknown.OwnerNode(test.apiVersion, test.kind, test.name)
			if is != test.is || is && node != test.node {
				t.Errorf("%+v: %q, %t", test, node, is)
			}
			reference := map[string]any{"apiVersion": test.apiVersion, "kind": test.kind, "name": test.name}
			if wellknown.IsOwnerNode(reference) != test.is {
				t.Errorf("%v", reference)
			}
		})
	}
	if wellknown.IsOwnerNode("text") || wellknown.IsOwnerNode(map[string]any{"name": 1}) {
		t.Error("what is no reference leads to an inventory")
	}
}
