package session

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// comparison combines inventories with the live objects.
type comparison struct {
	status.Comparison
	// instead says what happens to nodes that can't be compared: "not compared".
	instead string
	// Unseen are the nodes that couldn't be compared. Warnings say why.
	Unseen   map[lynq.NodeKey]bool
	Warnings []string
}

// NewComparison returns an empty comparison. Warnings use instead to say what happens to
// nodes that can't be compared.
func NewComparison(instead string) *comparison {
	return &comparison{
		Comparison: status.Comparison{Broken: map[lynq.NodeKey]bool{}, Live: map[lynq.Ref]*tracking.Live{}, Misplaced: map[lynq.Ref]*plan.ScopeError{}},
		instead:    instead, Unseen: map[lynq.NodeKey]bool{},
	}
}

// Compare reads the objects of the chosen nodes, hub by hub. A failure affects only its own
// hub or nodes.
func (c *comparison) Compare(ctx context.Context, records *Inventories, observe func(hub string, inventories []*inventory.Inventory) (*plan.Observed, error)) error {
	for _, b := range records.Broken {
		c.Broken[b.Node.Key()] = true
	}
	// Compare skips objects whose node doesn't count.
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

// seen sorts out the nodes of a hub that couldn't be checked, and gives each reason once.
func (c *comparison) seen(hub string, inventories []*inventory.Inventory, seen *plan.Observed) {
	unknown := map[string]int{} // counts nodes by reason
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

// leave excludes a node.
func (c *comparison) leave(inv *inventory.Inventory) {
	c.Unseen[inv.Node.Key()] = true
	c.Others = append(c.Others, inv)
}
