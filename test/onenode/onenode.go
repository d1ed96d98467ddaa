// Package onenode gives tests of pure packages one node with one object, as a run leaves
// them.
//
// A test changes the Scene, and passes its parts to the tested package. This package asks
// no cluster.
package onenode

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Scene is node ns/acme-web. Its inventory lists one ConfigMap, which is as recorded.
type Scene struct {
	Inventory *inventory.Inventory
	Entry     *inventory.Entry // the inventory's only entry
	Live      *tracking.Live
}

// New returns a Scene with default policies. The object belongs to the inventory by owner
// reference.
func New() *Scene {
	ref := lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "acme"}
	inv := &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: "acme", Namespace: "ns", Name: "acme-web"}, UID: "inv", Entries: []inventory.Entry{{
		Ref: ref, ID: "settings", APIVersion: "v1", UID: "u1", Digest: "d1", ResourceVersion: "7", Fields: "f1",
		Lifecycle: lynq.Lifecycle{Creation: lynq.CreateWhenNeeded, Deletion: lynq.DeleteDelete, Conflict: lynq.ConflictStuck, Patch: lynq.PatchApply},
	}}}
	live := &tracking.Live{
		Ref: ref, UID: "u1", ResourceVersion: "7", Hub: "crm", PartOf: inventory.ID("ns", "lynqnode-acme-web"),
		Owners: []types.UID{"inv"}, ResourceID: "settings", DeletionPolicy: lynq.DeleteDelete, Fields: "f1",
	}
	return &Scene{Inventory: inv, Entry: &inv.Entries[0], Live: live}
}

// Retained gives the object policy Retain, so that labels track it.
func (s *Scene) Retained() {
	s.Entry.Deletion, s.Live.DeletionPolicy = lynq.DeleteRetain, lynq.DeleteRetain
	s.Live.Owners, s.Live.Node, s.Live.NodeNamespace = nil, "acme-web", "ns"
}

// Observed returns the live objects by name. It is empty if a test removed the object.
func (s *Scene) Observed() map[lynq.Ref]*tracking.Live {
	live := map[lynq.Ref]*tracking.Live{}
	if s.Live != nil {
		live[s.Live.Ref] = s.Live
	}
	return live
}
