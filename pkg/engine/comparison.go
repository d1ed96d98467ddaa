package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// comparison puts together what inventories say and what there is of their objects.
type comparison struct {
	plan.VerifyInput
	// instead is what becomes of nodes that cannot be compared: "not compared".
	instead string
	// unseen are those nodes, and warnings say why they are.
	unseen   map[plan.NodeKey]bool
	warnings []string
}

func newComparison(instead string) *comparison {
	return &comparison{
		VerifyInput: plan.VerifyInput{Broken: map[plan.NodeKey]bool{}, Live: map[lynq.Ref]*plan.Live{}, Misplaced: map[lynq.Ref]*plan.ScopeError{}},
		instead:     instead, unseen: map[plan.NodeKey]bool{},
	}
}

// compare looks at the objects of the chosen nodes, hub by hub. What cannot be
// looked at does not keep other hubs and nodes from being compared.
func (c *comparison) compare(ctx context.Context, records *Inventories, observe func(hub string, inventories []*inventory.Inventory) (*plan.Observed, error)) error {
	for _, b := range records.Broken {
		c.Broken[plan.NodeKey{Namespace: b.Namespace, Name: b.Node}] = true
	}
	// What has the tracking of a node that does not count is not looked at.
	for _, key := range records.ignored.Nodes() {
		c.Broken[key] = true
	}
	c.Others = slices.Clone(records.others)
	hubs := map[lynq.HubKey][]*inventory.Inventory{}
	for _, inv := range records.Chosen {
		hubs[plan.HubOf(inv)] = append(hubs[plan.HubOf(inv)], inv)
	}
	for _, hub := range slices.SortedFunc(maps.Keys(hubs), lynq.HubKey.Compare) {
		seen, err := observe(hub.Name, hubs[hub])
		if context.Cause(ctx) != nil {
			return unread(ctx, err)
		}
		if err != nil {
			c.warnings = append(c.warnings, fmt.Sprintf("the nodes of hub %q were %s: %v", hub.Name, c.instead, err))
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

// seen sorts out the nodes of a hub of which not all could be looked at, and says
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
		c.warnings = append(c.warnings, fmt.Sprintf("%s of hub %q %s: %s", lynq.Count(unknown[why], "node"), hub, c.instead, why))
	}
}

// leave leaves a node out.
func (c *comparison) leave(inv *inventory.Inventory) {
	c.unseen[keyOf(inv)] = true
	c.Others = append(c.Others, inv)
}
