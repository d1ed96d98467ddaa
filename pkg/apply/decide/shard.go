package decide

import (
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// InShard has the plan be of the nodes of one shard. It gives the nodes and the inventories
// whose objects are to be observed.
//
// All nodes of the hub stay in the input, those of other shards with their objects' names
// alone: guards count the whole hub, and no shard deletes what a row of another one renders.
// A node is of the shard of its row. Where a row wants it, the row's uid counts and not the
// inventory's, which other people may write.
func (in *Input) InShard(s lynq.Shard) ([]*plan.Node, []*inventory.Inventory) {
	in.Concerned, in.Sharded = map[lynq.NodeKey]bool{}, true
	var nodes []*plan.Node
	var inventories []*inventory.Inventory
	for _, m := range in.members() {
		if !s.Has(m.uid()) {
			continue
		}
		in.Concerned[m.key] = true
		if m.node != nil {
			nodes = append(nodes, m.node)
		}
		if m.inventory != nil {
			inventories = append(inventories, m.inventory)
		}
	}
	for key := range in.Broken { // which row it is of cannot be read
		if s.Has(key.Name) {
			in.Concerned[key] = true
		}
	}
	return nodes, inventories
}

// uid is that of the row of a member, as the row has it now.
func (m *member) uid() string {
	switch {
	case m.node != nil:
		return m.node.UID
	case m.now != "":
		return m.now
	}
	return m.inventory.Node.UID
}
