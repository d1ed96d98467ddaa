package inventory

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Anybody who may write ConfigMaps in some namespace could forge an inventory. So an
// inventory counts only in a namespace that the files or the hub's own record name.

// Namespaces returns the namespaces in which a hub's inventories count. These are the
// hub's own, those of the nodes in the files, and those in its record, which may be nil.
// So nobody can influence a run by writing ConfigMaps elsewhere.
func Namespaces(hub lynq.HubKey, record *Hub, inputs []string) map[string]bool {
	namespaces := map[string]bool{hub.Namespace: true}
	for _, ns := range inputs {
		namespaces[ns] = true
	}
	if record == nil || record.UID == "" {
		return namespaces
	}
	for _, ns := range record.Namespaces {
		namespaces[ns] = true
	}
	return namespaces
}

// Within keeps the readable and broken inventories in these namespaces. others are the
// ConfigMaps of the rest, as namespace/name.
func Within(namespaces map[string]bool, inventories []*Inventory, broken []*UnreadableError) (kept []*Inventory, keptBroken []*UnreadableError, others []string) {
	for _, inv := range inventories {
		if namespaces[inv.Node.Namespace] {
			kept = append(kept, inv)
		} else {
			others = append(others, inv.Node.Namespace+"/"+Name(inv.Node.Name))
		}
	}
	for _, b := range broken {
		if namespaces[b.Node.Namespace] {
			keptBroken = append(keptBroken, b)
		} else {
			others = append(others, b.Node.Namespace+"/"+b.Name)
		}
	}
	slices.Sort(others)
	return kept, keptBroken, others
}

// IgnoredInventories returns a warning about inventories that don't count.
func IgnoredInventories(hub lynq.HubKey, others []string) string {
	return fmt.Sprintf("hub %s: %s ignored, because neither your files nor the hub's record name the namespace: %s. If the hub owns them, pass the namespace with -n to delete or inventory rebuild. Otherwise, delete them",
		hub, phrase.Count(len(others), "inventory"), phrase.Some(others))
}

// NamespacesOf returns the namespaces for a hub's record, sorted. These are others and
// those of inventories, except the hub's own.
func NamespacesOf(own string, others []string, inventories []*Inventory) []string {
	namespaces := map[string]bool{}
	for _, ns := range others {
		namespaces[ns] = true
	}
	for _, inv := range inventories {
		namespaces[inv.Node.Namespace] = true
	}
	delete(namespaces, own)
	return slices.Sorted(maps.Keys(namespaces))
}
