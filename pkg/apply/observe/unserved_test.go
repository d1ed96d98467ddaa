package observe

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/inmemory"
)

// TestRetired checks that objects count as retired if their form has a version that the
// server doesn't serve, although it lists them in another one. Entries don't matter.
func TestRetired(t *testing.T) {
	for name, versions := range map[string][2]string{
		"all of an old version":    {"v1alpha1", "v1alpha1"},
		"the second of an old one": {"v1", "v1alpha1"},
		"the first of an old one":  {"v1alpha1", "v1"},
		"both current":             {"v1", "v1"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &faulty{Cluster: inmemory.New()}
			var nodes []*plan.Node
			var inventories []*inventory.Inventory
			for i, version := range versions {
				ref := lynq.Ref{Group: "example.com", Kind: "Widget", Namespace: "ns", Name: string(rune('a' + i))}
				f.Put(ref, f.Foreign(ref, map[string]any{"labels": map[string]any{wellknown.LabelHub: "crm"}}))
				id := lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: "ns", Name: ref.Name}
				nodes = append(nodes, &plan.Node{NodeID: id, Objects: []plan.Object{{Ref: ref, APIVersion: "example.com/" + version}}})
				inventories = append(inventories, &inventory.Inventory{Node: id, Entries: []inventory.Entry{{Ref: ref, APIVersion: "example.com/v1alpha1"}}})
			}
			seen, err := Nodes(t.Context(), f, "crm", nodes, inventories)
			if err != nil {
				t.Fatal(err)
			}
			for i, version := range versions {
				if l := seen.Live[nodes[i].Objects[0].Ref]; l == nil || l.Retired != (version != "v1") {
					t.Errorf("object %d: %+v", i, l)
				}
			}
		})
	}
}
