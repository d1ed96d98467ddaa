package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Namespaces are those in which the inventories of a hub count: its own, those of
// the nodes that the inputs make, and those that its record names, nil for none.
// Whoever may write ConfigMaps in another one has no say in what a run of the hub
// does.
//
// Records of old formats name none. What old inventories of the hub say is
// believed then, once: the next run records it.
func Namespaces(hub lynq.HubKey, record *inventory.Hub, inputs []string, inventories []*inventory.Inventory) map[string]bool {
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
	for _, inv := range inventories {
		if record.Format != 0 && inv.Format != 0 {
			namespaces[inv.Namespace] = true
		}
	}
	return namespaces
}

// Within leaves the inventories, and those that could not be read, that are in
// one of the namespaces. others are the ConfigMaps of the rest, as namespace/name.
func Within(namespaces map[string]bool, inventories []*inventory.Inventory, broken []*inventory.UnreadableError) (kept []*inventory.Inventory, keptBroken []*inventory.UnreadableError, others []string) {
	for _, inv := range inventories {
		if namespaces[inv.Namespace] {
			kept = append(kept, inv)
		} else {
			others = append(others, inv.Namespace+"/"+inventory.Name(inv.Node))
		}
	}
	for _, b := range broken {
		if namespaces[b.Namespace] {
			keptBroken = append(keptBroken, b)
		} else {
			others = append(others, b.Namespace+"/"+b.Name)
		}
	}
	slices.Sort(others)
	return kept, keptBroken, others
}

// IgnoredInventories warns of inventories that do not count.
func IgnoredInventories(hub lynq.HubKey, others []string) string {
	const most = 3
	named := strings.Join(others[:min(most, len(others))], ", ")
	if more := len(others) - most; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("hub %s: %s ignored, for neither the inputs nor the hub's record say that the hub has nodes in that namespace: %s (if they are the hub's, give their namespace with -n to delete or inventory rebuild; else delete them)",
		hub, lynq.Count(len(others), "inventory"), named)
}

// NamespacesOf are the namespaces to record of a hub, sorted: some, and those of
// inventories, beside its own.
func NamespacesOf(own string, others []string, inventories []*inventory.Inventory) []string {
	namespaces := map[string]bool{}
	for _, ns := range others {
		namespaces[ns] = true
	}
	for _, inv := range inventories {
		namespaces[inv.Namespace] = true
	}
	delete(namespaces, own)
	return slices.Sorted(maps.Keys(namespaces))
}
