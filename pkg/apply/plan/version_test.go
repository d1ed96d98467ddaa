package plan_test

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestSameVersion checks that only a known version counts, of the inventory or of its hub,
// and never for an object that is created once.
func TestSameVersion(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		version, inv string
		hub          *inventory.Hub
		creation     lynq.CreationPolicy
		want         bool
	}{
		"the inventory's":             {"1.2", "1.2", nil, "", true},
		"the hub's":                   {"1.2", "1.1", &inventory.Hub{Version: "1.2"}, "", true},
		"neither":                     {"1.2", "1.1", &inventory.Hub{Version: "1.1"}, "", false},
		"another, without a hub":      {"1.2", "1.1", nil, "", false},
		"an unknown one of ours":      {"", "1.2", &inventory.Hub{}, "", false},
		"an unknown one, of both":     {"", "", &inventory.Hub{}, "", false},
		"an unknown one of the nodes": {"1.2", "", &inventory.Hub{Version: "1.2"}, "", false},
		"an object created once":      {"1.2", "1.2", nil, lynq.CreateOnce, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := &inventory.Entry{Lifecycle: lynq.Lifecycle{Creation: tt.creation}}
			if got := plan.SameVersion(tt.version, r, &inventory.Inventory{Version: tt.inv}, tt.hub); got != tt.want {
				t.Errorf("%s: it is the same version: %t", name, got)
			}
		})
	}
}
