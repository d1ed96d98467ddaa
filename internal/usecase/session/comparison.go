package session

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/apply/verify"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// comparison puts together what inventories say and what there is of their objects.
type comparison struct {
	verify.Input
	// instead is what becomes of nodes that cannot be compared: "not compared".
	instead string
	// Unseen are those nodes, and warnings say why they are.
	Unseen   map[lynq.NodeKey]bool
	Warnings []string
}

// NewComparison has nothing to compare yet; instead says in warnings what becomes of nodes
// that cannot be compared.
func NewComparison(instead string) *comparison {
	return &comparison{
		Input:   verify.Input{Broken: map[lynq.NodeKey]bool{}, Live: map[lynq.Ref]*tracking.Live{}, Misplaced: map[lynq.Ref]*plan.ScopeError{}},
		instead: instead, Unseen: map[lynq.NodeKey]bool{},
	}
}

// Compare looks at the objects of the chosen nodes, hub by hub. What cannot be
// looked at does not keep other hubs and nodes from being compared.
func (c *comparison) Compare(ctx context.Context, records *Inventories, observe func(hub string, inventories []*inventory.Inventory) (*plan.Observed, error)) error {
	for _, b := range records.Broken {
		c.Broken[b.Node.Key()] = true
	}
	// What has the tracking of a node that does not count is not looked at.
	for _, key := range records.ignored.Nodes() {
		c.Broken[key] = true
	}
	c.Others = slices.Clone(records.Others)
	hubs := map[lynq.HubKey][]*inventory.Inventory{}
	for _, inv := range records.Chosen {
		hubs[inv.Node.Full().Hub] = append(hubs[inv.Node.Full().Hub], inv)
	}
	for _, hub := range slices.SortedFunc(maps.Keys(hubs), lynq.HubKey.Compare) {
		seen, err := observe(hub.Name, hubs[hub])
		if context.Cause(ctx) != nil {
			return Unread(ctx, err)
		}
		if err != nil {
			c.Warnings = append(c.Warnings, fmt.Sprintf("the nodes of hub %q were %s: %v", hub.Name, c.instead, err))
			for _, inv := range hubs[hub] {
				c.leave(inv)
			}
			continue
		}
		maps.Copy(c.Live, seen.Live)
		maps.Copy(c.Misplaced, seen.Misplaced)
		c.seen(hub.Name, hubs[hub], seen)
	}
	return nil
}

// seen sorts out the nodes of a hub of which some could not be checked, and says
// why, each reason once.
func (c *comparison) seen(hub string, inventories []*inventory.Inventory, seen *plan.Observed) {
	unknown := map[string]int{} // nodes, by why they are
	for _, inv := range inventories {
		if err := seen.UnknownOf(inv); err != nil {
			unknown[err.Error()]++
			c.leave(inv)
			continue
		}
		c.Inventories = append(c.Inventories, inv)
	}
	for _, why := range slices.Sorted(maps.Keys(unknown)) {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s of hub %q %s: %s", phrase.Count(unknown[why], "node"), hub, c.instead, why))
	}
}

// leave leaves a node out.
func (c *comparison) leave(inv *inventory.Inventory) {
	c.Unseen[inv.Node.Key()] = true
	c.Others = append(c.Others, inv)
}
