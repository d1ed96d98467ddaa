package plan

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// Annotated tells whether an object that is created once has the annotations that it
// is to have: nothing else would notice that they are lost.
func (o *Object) Annotated(l *tracking.Live) bool {
	return l.CreatedOnce && l.ResourceID == o.ID && l.DeletionPolicy == o.Policy.Deletion
}

// Claims holds what lynqctl knows of the objects of a row that it could not render. It
// deletes none that the row may want when it renders again.
type Claims struct {
	// Refs are its objects, each with the name that the row gave, valid or not;
	// "" where not even that is known.
	Refs []lynq.Ref
	// Values are the row's mapped values: an object whose name is not known has
	// one that is made of these.
	Values []string
}

// Fail notes that a node must not run. What it wants is a claim from then on.
func (n *Node) Fail(err error) {
	for i := range n.Objects {
		n.Claims.Refs = append(n.Claims.Refs, n.Objects[i].Ref)
	}
	n.Failed, n.Objects = err, nil
}

// LeftAlone tells whether nothing is done with an object, so that it is no matter how it
// is.
func (o *Object) LeftAlone() bool { return o.LeftOut || o.Exclusion != nil }

// Node holds the objects that a row and a form want.
type Node struct {
	lynq.NodeID
	// TemplateGeneration is the form's metadata.generation, 0 where it has none.
	TemplateGeneration int64
	// Match is the first stage of the form's rollout whose template chooses the row, counted
	// from 1; 0 for none.
	Match int
	// DependForms are the forms of the hub that its form depends on, sorted.
	DependForms []string
	// Extra is what annotation lynq.sh/extra is to hold, "" for none.
	Extra string
	// Expires is when the row expires, zero for never.
	Expires time.Time
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
	// Mask hides what the row has in secret columns.
	Mask redact.Mask
}

// RenderError says why a node did not render. Its text is for who runs lynqctl, and may
// quote the row.
type RenderError struct {
	Err error
	// Masked is the text without the values of the row, for what is recorded.
	Masked string
}

// Error implements error.
func (e *RenderError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *RenderError) Unwrap() error { return e.Err }

// Is tells whether an inventory is that of the node, by whatever name.
func (n *Node) Is(inv *inventory.Inventory) bool {
	return inventory.SameNode(inv, &inventory.Inventory{
		Node: lynq.NodeID{Hub: n.Hub, Form: n.Form, UID: n.UID},
	})
}

// Awaited tells whether the node is Ready only when the object is: its form waits for it,
// and it has something to become ready.
func (o *Object) Awaited() bool {
	return !o.Policy.Unwaited && !ready.Always(o.Group, o.Kind, o.Body)
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
	// Sensitive: a secret column is in it, so that no message may quote it.
	Sensitive bool
}

// Mask hides what the row of the node has in secret columns. Of a node that goes, the row
// isn't known.
func (p *NodePlan) Mask() redact.Mask {
	if p.Desired == nil {
		return nil
	}
	return p.Desired.Mask
}

// Completed tells whether an entry says that an object did its work, as it is wanted
// now. What is created once does it once.
func (o *Object) Completed(r *inventory.Entry) bool {
	return r.Phase == inventory.PhaseCompleted && o.Policy.PurgeOrder != nil && (r.Digest == o.Digest || o.Policy.Creation.Once())
}
