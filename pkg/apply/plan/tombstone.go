package plan

import (
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Tombstone is an object that is to go beside those of nodes, and what was seen of it.
type Tombstone struct {
	lynq.Tombstone
	// Node is whose form names it, zero for a tombstone of a file. It is deleted when
	// that node, or for a file all nodes that are wanted, ended well.
	Node lynq.NodeKey
	// Live has the labels of the object, too.
	Live *tracking.Live
	// Unknown is why it could not be looked at.
	Unknown error
	// TakesClaims tells that Kubernetes deletes volume claims with the object.
	TakesClaims bool
	// Unserved: its kind is not served. There is nothing to delete, for now.
	Unserved bool
}

// Gone tells whether the object was looked for, and is not there.
func (t *Tombstone) Gone() bool { return t.Live == nil && t.Unknown == nil && !t.Unserved }

// TombstonesNode stands for the node of the tombstones that come from files.
const TombstonesNode = "tombstones"
