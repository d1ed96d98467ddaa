package decide

import "github.com/lynqctl/lynqctl/pkg/lynq"

// Scope says which nodes a plan is about. The zero value means the whole hub.
type Scope struct {
	// Only names the nodes that may be deleted. nil means all.
	Only map[string]bool
	// Concerned names the nodes to plan, see Narrow. nil means all.
	Concerned map[lynq.NodeKey]bool
	// Gone are nodes of a concern that have neither a row nor an inventory.
	Gone []lynq.NodeKey
	// Sharded is set if other runs plan the other nodes, see InShard.
	Sharded bool
	// Narrowed is set if a selector leaves objects out. Then lynqctl deletes nothing,
	// because it doesn't know which recorded objects the selector would have left out.
	Narrowed bool
	// Delete names the nodes to delete whatever the rows say.
	Delete map[lynq.NodeKey]bool
}

// Plans reports whether the plan includes a node.
func (s *Scope) Plans(k lynq.NodeKey) bool { return s.Concerned == nil || s.Concerned[k] }

// Names reports whether the user named a node, or named none, so that all count.
func (s *Scope) Names(node string) bool { return s.Only == nil || s.Only[node] }

// whole reports whether the plan includes all nodes.
func (s *Scope) whole() bool { return s.Concerned == nil }
