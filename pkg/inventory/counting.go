package inventory

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Counting says in which namespaces the inventories of hubs count. For an unknown hub,
// they count everywhere.
type Counting map[lynq.HubKey]map[string]bool

// NewCounting reads the namespaces from hub records. See Namespaces.
func NewCounting(records []*Hub) Counting {
	c := Counting{}
	for _, r := range records {
		key := r.Key()
		c[key] = Namespaces(key, r, nil)
	}
	return c
}

// Counts reports whether a hub's inventories count in a namespace.
func (c Counting) Counts(hub lynq.HubKey, namespace string) bool {
	namespaces, known := c[hub]
	return !known || namespaces[namespace]
}

// Apart reports whether a namespace has no inventories of these hubs. Each of them has a
// record, and none names the namespace.
func (c Counting) Apart(namespace string, hubs []lynq.HubKey) bool {
	return len(hubs) > 0 && !slices.ContainsFunc(hubs, func(hub lynq.HubKey) bool { return c.Counts(hub, namespace) })
}

// Split separates the inventories that count from the others.
func (c Counting) Split(inventories []*Inventory, broken []*UnreadableError) (kept []*Inventory, keptBroken []*UnreadableError, ignored Ignored) {
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

// Away returns the hubs with inventories outside their own namespace, sorted. Their
// records decide whether these inventories count.
func Away(inventories []*Inventory, broken []*UnreadableError) []lynq.HubKey {
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

// Ignored are inventories that don't count.
type Ignored struct {
	Inventories []*Inventory
	Broken      []*UnreadableError
}

// Nodes returns the nodes of the ignored inventories.
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

// Warnings returns one warning per hub. See IgnoredInventories.
func (i *Ignored) Warnings() []string {
	of := map[lynq.HubKey][]string{}
	for _, inv := range i.Inventories {
		of[inv.Node.Full().Hub] = append(of[inv.Node.Full().Hub], inv.Node.Namespace+"/"+Name(inv.Node.Name))
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
