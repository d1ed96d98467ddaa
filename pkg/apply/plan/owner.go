package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Owner identifies a node as the tracking of its objects does.
type Owner struct {
	lynq.NodeKey
	Hub    lynq.HubKey // labels have only the hub's name
	PartOf string
	UID    types.UID // the uid of the inventory, "" for a new one
}

// NewOwner returns the Owner for a node. inv may be nil.
func NewOwner(k lynq.NodeKey, hub lynq.HubKey, inv *inventory.Inventory) Owner {
	o := Owner{NodeKey: k, Hub: hub, PartOf: inventory.ID(k.Namespace, inventory.Name(k.Name))}
	if inv != nil {
		o.UID = types.UID(inv.UID)
	}
	return o
}

// Collected reports whether the garbage collector deletes an object with the node's
// inventory.
func (me Owner) Collected(l *tracking.Live) bool { return len(l.Owners) == 1 && l.Owners[0] == me.UID }

// Tracks reports whether an object has any tracking of the node. It requires the hub's
// label, because an inventory alone proves nothing.
func (me Owner) Tracks(l *tracking.Live) bool {
	return l.Hub == me.Hub.Name &&
		(l.PartOf == me.PartOf || l.Node == me.Name && l.NodeNamespace == me.Namespace || me.Owns(l))
}

// Owns reports whether an object has an owner reference to the node's inventory.
func (me Owner) Owns(l *tracking.Live) bool { return me.UID != "" && slices.Contains(l.Owners, me.UID) }

// Holds reports whether an object belongs to the node by owner and ApplySet. Then labels of
// another node on it are strays.
func (me Owner) Holds(l *tracking.Live) bool { return me.Owns(l) && l.PartOf == me.PartOf }

// Relabelled reports whether an object refers to the inventory and has the label of another
// hub. Then the inventory is wrong. lynqctl must not delete it, because the garbage
// collector would delete the object too.
func (me Owner) Relabelled(l *tracking.Live) bool {
	return me.Owns(l) && l.Hub != "" && l.Hub != me.Hub.Name
}

// Tracked reports whether an object has exactly its desired tracking.
func (me Owner) Tracked(o *Object, l *tracking.Live) bool {
	if l.PartOf != me.PartOf || l.Hub != me.Hub.Name {
		return false
	}
	owned := me.Owns(l)
	labelled := l.Node == me.Name && l.NodeNamespace == me.Namespace
	if o.Owned {
		return owned && l.Node == "" && l.NodeNamespace == ""
	}
	return labelled && !owned
}
