package trust

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Counting tells in which namespaces the inventories of hubs count. Those of a hub
// that it does not have count everywhere.
type Counting map[lynq.HubKey]map[string]bool

// NewCounting reads which namespaces the records of hubs name; see Namespaces.
func NewCounting(records []*inventory.Hub) Counting {
	c := Counting{}
	for _, r := range records {
		key := r.Key()
		c[key] = Namespaces(key, r, nil)
	}
	return c
}

// Counts tells whether what is in a namespace counts as a hub's.
func (c Counting) Counts(hub lynq.HubKey, namespace string) bool {
	namespaces, known := c[hub]
	return !known || namespaces[namespace]
}

// Apart tells whether nothing in a namespace can be of some hubs: each has a record,
// and none names it.
func (c Counting) Apart(namespace string, hubs []lynq.HubKey) bool {
	return len(hubs) > 0 && !slices.ContainsFunc(hubs, func(hub lynq.HubKey) bool { return c.Counts(hub, namespace) })
}

// Split parts the inventories that count from those that do not.
func (c Counting) Split(inventories []*inventory.Inventory, broken []*inventory.UnreadableError) (kept []*inventory.Inventory, keptBroken []*inventory.UnreadableError, ignored Ignored) {
	for _, inv := range inventories {
		if c.Counts(inv.Node.Full().Hub, inv.Node.Namespace) {
			kept = append(kept, inv)
		} else {
			ignored.Inventories = append(ignored.Inventories, inv)
		}
	}
	for _, b := range broken {
		if c.Counts(b.Node.Full().Hub, b.Node.Namespace) {
			keptBroken = append(keptBroken, b)
		} else {
			ignored.Broken = append(ignored.Broken, b)
		}
	}
	return kept, keptBroken, ignored
}

// Away are the hubs of inventories that are not in their hub's own namespace,
// sorted: whether such an inventory counts, the hub's record says.
func Away(inventories []*inventory.Inventory, broken []*inventory.UnreadableError) []lynq.HubKey {
	var hubs []lynq.HubKey
	for _, inv := range inventories {
		if hub := inv.Node.Full().Hub; hub.Namespace != inv.Node.Namespace {
			hubs = append(hubs, hub)
		}
	}
	for _, b := range broken {
		if hub := b.Node.Full().Hub; hub.Name != "" && hub.Namespace != b.Node.Namespace {
			hubs = append(hubs, hub)
		}
	}
	slices.SortFunc(hubs, lynq.HubKey.Compare)
	return slices.Compact(hubs)
}

// Ignored are inventories that do not count.
type Ignored struct {
	Inventories []*inventory.Inventory
	Broken      []*inventory.UnreadableError
}

// Nodes lists the nodes that the ignored records claim.
func (i *Ignored) Nodes() []lynq.NodeKey {
	var keys []lynq.NodeKey
	for _, inv := range i.Inventories {
		keys = append(keys, inv.Node.Key())
	}
	for _, b := range i.Broken {
		if b.Node.Name != "" {
			keys = append(keys, b.Node.Key())
		}
	}
	return keys
}

// Warnings are one for each hub; see IgnoredInventories.
func (i *Ignored) Warnings() []string {
	of := map[lynq.HubKey][]string{}
	for _, inv := range i.Inventories {
		of[inv.Node.Full().Hub] = append(of[inv.Node.Full().Hub], inv.Node.Namespace+"/"+inventory.Name(inv.Node.Name))
	}
	for _, b := range i.Broken {
		of[b.Node.Full().Hub] = append(of[b.Node.Full().Hub], b.Node.Namespace+"/"+b.Name)
	}
	hubs := make([]lynq.HubKey, 0, len(of))
	for hub := range of {
		hubs = append(hubs, hub)
	}
	slices.SortFunc(hubs, lynq.HubKey.Compare)
	var warnings []string
	for _, hub := range hubs {
		slices.Sort(of[hub])
		warnings = append(warnings, IgnoredInventories(hub, of[hub]))
	}
	return warnings
}
