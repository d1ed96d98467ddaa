package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Owner is a node as its objects' tracking has it.
type Owner struct {
	lynq.NodeKey
	Hub    lynq.HubKey // labels have only its name
	PartOf string
	UID    types.UID // of the inventory, "" for a new one
}

// NewOwner is a node whose inventory may be nil.
func NewOwner(k lynq.NodeKey, hub lynq.HubKey, inv *inventory.Inventory) Owner {
	o := Owner{NodeKey: k, Hub: hub, PartOf: inventory.ID(k.Namespace, inventory.Name(k.Name))}
	if inv != nil {
		o.UID = types.UID(inv.UID)
	}
	return o
}

// Collected tells whether an object goes with the node's inventory.
func (me Owner) Collected(l *tracking.Live) bool { return len(l.Owners) == 1 && l.Owners[0] == me.UID }

// Tracks tells whether an object has any tracking of the node. None counts without
// the label of the hub: what only an inventory claims is not proven.
func (me Owner) Tracks(l *tracking.Live) bool {
	return l.Hub == me.Hub.Name &&
		(l.PartOf == me.PartOf || l.Node == me.Name && l.NodeNamespace == me.Namespace || me.Owns(l))
}

// Owns tells whether an object has an owner reference to the node's inventory.
func (me Owner) Owns(l *tracking.Live) bool { return me.UID != "" && slices.Contains(l.Owners, me.UID) }

// Holds tells whether an object belongs to the node by its owner and its ApplySet, so
// that labels of a node are stray on it.
func (me Owner) Holds(l *tracking.Live) bool { return me.Owns(l) && l.PartOf == me.PartOf }

// Relabelled tells whether an object belongs to the inventory and to another hub:
// then it is the inventory that does not say the truth, and must not go, for the
// object would go with it.
func (me Owner) Relabelled(l *tracking.Live) bool {
	return me.Owns(l) && l.Hub != "" && l.Hub != me.Hub.Name
}

// Tracked tells whether an object has exactly the tracking that it is to have.
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
