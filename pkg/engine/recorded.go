package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// hubNodes is what the cluster has recorded of the nodes of a hub, as far as it
// counts.
type hubNodes struct {
	namespaces  map[string]bool
	inventories []*inventory.Inventory
	broken      map[plan.NodeKey]error // those that could not be read
}

// recorded reads the inventories of a hub. Beside those that its record names, they
// are looked for in some namespaces; all others are warned of.
func (r *clusterRun) recorded(ctx context.Context, hub lynq.HubKey, record *inventory.Hub, namespaces []string) (*hubNodes, error) {
	all, err := r.kept.or(func() ([]*inventory.Inventory, error) { return r.store.Nodes(ctx, hub) })
	unread, err := brokenOnes(err)
	if err != nil {
		return nil, fmt.Errorf("hub %q: read the inventories of its nodes: %w", hub.Name, err)
	}
	found := hubNodes{namespaces: plan.Namespaces(hub, record, namespaces, all), broken: map[plan.NodeKey]error{}}
	var others []string
	found.inventories, unread, others = plan.Within(found.namespaces, all, unread)
	for _, b := range unread {
		found.broken[plan.NodeKey{Namespace: b.Namespace, Name: b.Node}] = b
	}
	if len(others) > 0 {
		r.warnOnce(plan.IgnoredInventories(hub, others))
	}
	return &found, nil
}

// warnOnce prints a warning that more than one plan has.
func (r *clusterRun) warnOnce(text string) {
	if !slices.Contains(r.warned, text) {
		r.warned = append(r.warned, text)
		r.notef("warning: %v", text)
	}
}

// within counts what is in the namespaces that count.
func (r *hubNodes) within(counts map[string]int) int {
	n := 0
	for namespace, count := range counts {
		if r.namespaces[namespace] {
			n += count
		}
	}
	return n
}
