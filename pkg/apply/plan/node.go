package plan

import (
	"fmt"

	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// NodeKey names a node: its inventory is the ConfigMap "lynqnode-" + Name in
// that namespace.
type NodeKey struct{ Namespace, Name string }

// String is namespace/name.
func (k NodeKey) String() string { return k.Namespace + "/" + k.Name }

// Node is what a row and a form want.
type Node struct {
	NodeKey
	Hub, Form, UID string
	// HubNamespace and FormNamespace tell hubs, and forms, of one name apart.
	HubNamespace, FormNamespace string
	// TemplateGeneration is the form's metadata.generation, 0 where it has none.
	TemplateGeneration int64
	// DependForms are the forms of the hub that its form depends on, sorted.
	DependForms []string
	// Extra is what annotation lynq.sh/extra is to hold, "" for none.
	Extra string
	// Objects are in the order of their waves, and within a wave in one in which each
	// comes after all it depends on.
	Objects []Object
	// Hooks are what is run when the node goes, in such an order too; HooksLeftOut: a
	// selector leaves out what the record says of them.
	Hooks        []Object
	HooksLeftOut bool
	// NotIncluded are the ids of resources of the form that the row does not get.
	NotIncluded []string
	// Tombstones are what is to go beside.
	Tombstones []lynq.Tombstone
	// Failed: the row did not render, for this reason. Nothing of the node is
	// changed, and nothing deleted.
	Failed error
	// Claims are what a row that did not render may want.
	Claims Claims
}

// RenderError is why a node could not be rendered. Its text is for who runs lynqctl,
// and may quote the row.
type RenderError struct {
	Err error
	// Masked is the text without the values of the row, for what is recorded.
	Masked string
}

// Error implements error.
func (e *RenderError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *RenderError) Unwrap() error { return e.Err }

func (n *Node) formKey() lynq.FormKey { return lynq.FormKey{Namespace: n.FormNamespace, Name: n.Form} }

// is tells whether an inventory is that of the node, by whatever name.
func (n *Node) is(inv *inventory.Inventory) bool {
	return inventory.SameNode(inv, &inventory.Inventory{
		Hub: n.Hub, HubNamespace: n.HubNamespace, Form: n.Form, FormNamespace: n.FormNamespace, RowUID: n.UID,
	})
}

// Awaited tells whether the node is Ready only when the object is: its form waits for it,
// and it has something to become ready.
func (o *Object) Awaited() bool {
	return o.Policy.WaitForReady && !ready.Always(o.Group, o.Kind, o.Body)
}

// taken says that an inventory of the node's name belongs to another node, and to which.
func (n *Node) taken(inv *inventory.Inventory) error {
	return fmt.Errorf("another node has this name: inventory %s/%s belongs to hub %s, form %s and row %q, not to hub %s, form %s and row %q (rename the form or the uid, or put the nodes of one hub into another namespace; to delete the other node: lynqctl delete node %s -n %s)",
		inv.Namespace, inventory.Name(inv.Node), inv.HubKey(), inv.FormKey(), inv.RowUID,
		lynq.HubKey{Namespace: n.HubNamespace, Name: n.Hub}, n.formKey(), n.UID, inv.Node, inv.Namespace)
}

// Object is an object as it is to be.
type Object struct {
	lynq.Ref
	APIVersion string
	ID         string
	DependIDs  []string
	// Order is 0 for what depends on nothing of its node, and else one more
	// than the highest of what it depends on: objects go from the highest down.
	Order  int
	Policy *lynq.Policy
	// LeftOut: a selector leaves it out of this run. It is not looked at, and
	// stays recorded.
	LeftOut bool
	// Data: data is lost when the object is deleted, whatever its kind.
	Data bool
	// Exclusion is the rule that excludes it, nil for none: it is not looked at, and
	// stays as it is.
	Exclusion *lynq.Exclusion
	// Owned: the object is tracked by an owner reference to the inventory, not
	// by its node's labels.
	Owned bool
	// Body is the manifest, but for what only the cluster knows.
	Body Body
	// Digest changes whenever the object is to be written again: with the
	// manifest, and with the policies that say how it is written.
	Digest string
	// Template is a digest of what the form says of the object, whatever the row:
	// where both are the same, Digest has changed with the row.
	Template string
}
