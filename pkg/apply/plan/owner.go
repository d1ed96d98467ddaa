package plan

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Owner identifies a node as the tracking of its objects does.
type Owner struct {
	lynq.NodeKey
	Hub    lynq.HubKey
	PartOf string
	UID    types.UID // the uid of the inventory, "" for a new one
}

// NewOwner returns the Owner for a node. inv may be nil.
func NewOwner(k lynq.NodeKey, hub lynq.HubKey, inv *inventory.Inventory) Owner {
	hub.Namespace = cmp.Or(hub.Namespace, k.Namespace)
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
// labels, because an inventory alone proves nothing.
func (me Owner) Tracks(l *tracking.Live) bool { return me.SameHub(l) && me.named(l) }

// SameHub reports whether an object names the node's hub. The hub's name is enough in the
// node's namespace: whoever may change inventories there may delete the object too.
func (me Owner) SameHub(l *tracking.Live) bool {
	return l.Hub == me.Hub.Name && (l.Namespace == me.Namespace || me.LabelsHub(l))
}

// LabelsHub reports whether labels name the namespace of the node's hub (see
// lynq.NodeLabels).
func (me Owner) LabelsHub(l *tracking.Live) bool {
	return cmp.Or(l.HubNamespace, me.Namespace) == me.Hub.Namespace
}

// named reports whether an object names the node, or its inventory.
func (me Owner) named(l *tracking.Live) bool {
	return l.PartOf == me.PartOf || me.labelled(l) || me.Owns(l)
}

func (me Owner) labelled(l *tracking.Live) bool {
	return l.Node == me.Name && l.NodeNamespace == me.Namespace
}

// Owns reports whether an object has an owner reference to the node's inventory.
func (me Owner) Owns(l *tracking.Live) bool { return me.UID != "" && slices.Contains(l.Owners, me.UID) }

// Holds reports whether an object belongs to the node by owner and ApplySet. Then labels of
// another node on it are unlisted objects.
func (me Owner) Holds(l *tracking.Live) bool { return me.Owns(l) && l.PartOf == me.PartOf }

// Relabelled reports whether an object belongs to the inventory and has the labels of
// another hub. Then the inventory is wrong. lynqctl must not delete it: the garbage collector
// would delete the object too, or nothing would list it any more.
func (me Owner) Relabelled(l *tracking.Live) bool {
	if l.Hub == me.Hub.Name {
		return me.named(l) && !me.SameHub(l)
	}
	return me.Owns(l) && l.Hub != ""
}

// OtherHub returns the other hub that the labels of the node's object name, or "". It is for
// objects outside of the node's namespace: whoever changed the inventory there can't change
// them. An object without the label for the hub's namespace may only have lost it.
func (me Owner) OtherHub(l *tracking.Live) string {
	lost := l.Hub == "" || l.Hub == me.Hub.Name && l.HubNamespace == ""
	if lost || l.Namespace == me.Namespace || me.SameHub(l) || !me.named(l) {
		return ""
	}
	return me.LabelledHub(l)
}

// LabelledHub returns the hub that the labels of the node's object name.
func (me Owner) LabelledHub(l *tracking.Live) string {
	return lynq.HubKey{Namespace: cmp.Or(l.HubNamespace, me.Namespace), Name: l.Hub}.String()
}

// Tracked reports whether an object has exactly its desired tracking.
func (me Owner) Tracked(o *Object, l *tracking.Live) bool {
	if l.PartOf != me.PartOf || l.Hub != me.Hub.Name {
		return false
	}
	if o.Owned {
		return me.Owns(l) && l.Node == "" && l.NodeNamespace == "" && l.HubNamespace == ""
	}
	return me.labelled(l) && me.LabelsHub(l) && !me.Owns(l)
}
