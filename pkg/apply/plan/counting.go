package plan

import (
	"cmp"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// HubOf is the hub that an inventory says it is of. Old ones do not say its
// namespace: that is their own.
func HubOf(inv *inventory.Inventory) lynq.HubKey {
	return lynq.HubKey{Namespace: cmp.Or(inv.HubNamespace, inv.Namespace), Name: inv.Hub}
}

// HubOfBroken is HubOf for one that cannot be read, as far as its labels say it:
// without a name where they do not.
func HubOfBroken(b *inventory.UnreadableError) lynq.HubKey {
	return lynq.HubKey{Namespace: cmp.Or(b.HubNamespace, b.Namespace), Name: b.Hub}
}

// FormOf is the form that an inventory says it is of. Old ones do not say its
// namespace: that is its hub's.
func FormOf(inv *inventory.Inventory) lynq.FormKey {
	return lynq.FormKey{Namespace: cmp.Or(inv.FormNamespace, HubOf(inv).Namespace), Name: inv.Form}
}

// FormOfBroken is FormOf for one that cannot be read, zero where its labels do not
// say the form.
func FormOfBroken(b *inventory.UnreadableError) lynq.FormKey {
	if b.Form == "" {
		return lynq.FormKey{}
	}
	return lynq.FormKey{Namespace: cmp.Or(b.FormNamespace, HubOfBroken(b).Namespace), Name: b.Form}
}

// Counting tells in which namespaces the inventories of hubs count. Those of a hub
// that it does not have count everywhere.
type Counting map[lynq.HubKey]map[string]bool

// NewCounting is what the records of hubs say; see Namespaces.
func NewCounting(records []*inventory.Hub, inventories []*inventory.Inventory) Counting {
	of := map[lynq.HubKey][]*inventory.Inventory{}
	for _, inv := range inventories {
		of[HubOf(inv)] = append(of[HubOf(inv)], inv)
	}
	c := Counting{}
	for _, r := range records {
		key := lynq.HubKey{Namespace: r.Namespace, Name: r.Name}
		c[key] = Namespaces(key, r, nil, of[key])
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
		if c.Counts(HubOf(inv), inv.Namespace) {
			kept = append(kept, inv)
		} else {
			ignored.Inventories = append(ignored.Inventories, inv)
		}
	}
	for _, b := range broken {
		if c.Counts(HubOfBroken(b), b.Namespace) {
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
		if hub := HubOf(inv); hub.Namespace != inv.Namespace {
			hubs = append(hubs, hub)
		}
	}
	for _, b := range broken {
		if hub := HubOfBroken(b); hub.Name != "" && hub.Namespace != b.Namespace {
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

// Nodes are those that they say they are of.
func (i *Ignored) Nodes() []NodeKey {
	var keys []NodeKey
	for _, inv := range i.Inventories {
		keys = append(keys, NodeKey{Namespace: inv.Namespace, Name: inv.Node})
	}
	for _, b := range i.Broken {
		if b.Node != "" {
			keys = append(keys, NodeKey{Namespace: b.Namespace, Name: b.Node})
		}
	}
	return keys
}

// Warnings are one for each hub; see IgnoredInventories.
func (i *Ignored) Warnings() []string {
	of := map[lynq.HubKey][]string{}
	for _, inv := range i.Inventories {
		of[HubOf(inv)] = append(of[HubOf(inv)], inv.Namespace+"/"+inventory.Name(inv.Node))
	}
	for _, b := range i.Broken {
		of[HubOfBroken(b)] = append(of[HubOfBroken(b)], b.Namespace+"/"+b.Name)
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
