package decide

import (
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// InShard limits the plan to the nodes of one shard. It returns the nodes and the
// inventories with objects to read.
//
// All nodes of the hub remain in the input. Nodes of other shards have only the names of
// their objects. Guards count the whole hub, and no shard deletes an object that a row of
// another shard renders. The row decides about the shard of a node. For a desired node that
// is the row's own uid, and not the inventory's, because other people may write that.
func (in *Input) InShard(s lynq.Shard) ([]*plan.Node, []*inventory.Inventory) {
	in.Scope.Concerned, in.Scope.Sharded = map[lynq.NodeKey]bool{}, true
	var nodes []*plan.Node
	var inventories []*inventory.Inventory
	for _, m := range in.members() {
		if !s.Has(m.uid()) {
			continue
		}
		in.Scope.Concerned[m.key] = true
		if m.node != nil {
			nodes = append(nodes, m.node)
		}
		if m.inventory != nil {
			inventories = append(inventories, m.inventory)
		}
	}
	for key := range in.Recorded.Broken { // lynqctl can't read which row it has
		if s.Has(key.Name) {
			in.Scope.Concerned[key] = true
		}
	}
	return nodes, inventories
}

// uid returns the current uid of a member's row.
func (m *member) uid() string {
	switch {
	case m.node != nil:
		return m.node.UID
	case m.now != "":
		return m.now
	}
	return m.inventory.Node.UID
}
