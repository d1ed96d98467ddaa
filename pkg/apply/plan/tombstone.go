package plan

import (
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Tombstone is an object without a node that lynqctl must delete, with its observed state.
type Tombstone struct {
	lynq.Tombstone
	// Node is the node with the form that names it, zero for a tombstone of a file. lynqctl
	// deletes the object after that node succeeded, or for a file after all desired nodes
	// did.
	Node lynq.NodeKey
	// Live also has the labels of the object.
	Live *tracking.Live
	// Unknown says why lynqctl couldn't read it.
	Unknown error
	// TakesClaims is set if Kubernetes deletes volume claims with the object.
	TakesClaims bool
	// Unserved is set if the server doesn't serve its kind. Then there is nothing to delete
	// for now.
	Unserved bool
}

// Gone reports whether lynqctl read the object and it doesn't exist.
func (t *Tombstone) Gone() bool { return t.Live == nil && t.Unknown == nil && !t.Unserved }

// TombstonesNode is the name of the node for tombstones from files.
const TombstonesNode = "tombstones"
