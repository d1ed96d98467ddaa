package session

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// hubNodes holds the recorded nodes of a hub that count.
type hubNodes struct {
	namespaces  map[string]bool
	Inventories []*inventory.Inventory
	Broken      map[lynq.NodeKey]error // the unreadable ones
}

// Recorded reads the inventories of a hub. They count in the namespaces that the hub record
// names, and in the given ones. Recorded warns of all others.
func (r *Run) Recorded(ctx context.Context, hub lynq.HubKey, record *inventory.Hub, namespaces []string) (*hubNodes, error) {
	return r.RecordedIn(hub, record, namespaces, func() ([]*inventory.Inventory, error) { return r.Store.Nodes(ctx, hub) })
}

// RecordedIn works like Recorded, with the inventories that list returns.
func (r *Run) RecordedIn(hub lynq.HubKey, record *inventory.Hub, namespaces []string, list func() ([]*inventory.Inventory, error)) (*hubNodes, error) {
	all, err := r.Kept.or(list)
	unread, err := BrokenOnes(err)
	if err != nil {
		return nil, fmt.Errorf("hub %q: read the inventories of its nodes: %w", hub.Name, err)
	}
	found := hubNodes{namespaces: inventory.Namespaces(hub, record, namespaces), Broken: map[lynq.NodeKey]error{}}
	var others []string
	found.Inventories, unread, others = inventory.Within(found.namespaces, all, unread)
	for _, b := range unread {
		found.Broken[b.Node.Key()] = b
	}
	if len(others) > 0 {
		r.WarnOnce(inventory.IgnoredInventories(hub, others))
	}
	return &found, nil
}

// WarnOnce shows a warning once, even if several plans have it.
func (r *Run) WarnOnce(text string) {
	if !slices.Contains(r.Warned, text) {
		r.Warned = append(r.Warned, text)
		r.Engine.Notef("warning: %v", text)
	}
}

// Within returns the counts of the namespaces that count.
func (r *hubNodes) Within(counts map[string]int) map[string]int {
	within := maps.Clone(counts)
	maps.DeleteFunc(within, func(namespace string, _ int) bool { return !r.namespaces[namespace] })
	return within
}
