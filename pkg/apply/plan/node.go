package plan

import (
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
)

// Annotated reports whether an object that is created once has its annotations. No other
// check would notice that they are missing.
func (o *Object) Annotated(l *tracking.Live) bool {
	return l.CreatedOnce && l.ResourceID == o.ID && l.DeletionPolicy == o.Policy.Deletion
}

// Claims has everything that lynqctl knows about the objects of a row that failed to
// render. lynqctl doesn't delete an object that the row may need when it renders again.
type Claims struct {
	// Refs are the row's objects, with the row's names, valid or not. A name is "" if
	// lynqctl doesn't know it.
	Refs []lynq.Ref
	// Values are the row's mapped values. An unknown name consists of some of these.
	Values []string
}

// Fail marks a node that must not run. Its objects become claims.
func (n *Node) Fail(err error) {
	for i := range n.Objects {
		n.Claims.Refs = append(n.Claims.Refs, n.Objects[i].Ref)
	}
	n.Failed, n.Objects = err, nil
}

// LeftAlone reports whether the run leaves an object alone, so that its state doesn't
// matter.
func (o *Object) LeftAlone() bool { return o.LeftOut || o.Exclusion != nil }

// Node is the desired state of a node, from a row and a form.
type Node struct {
	lynq.NodeID
	// TemplateGeneration is the form's metadata.generation, or 0.
	TemplateGeneration int64
	// Match is the first stage of the form's rollout with a template that selects the row.
	// It is counted from 1, and 0 for none.
	Match int
	// DependForms are the forms of the hub that its form depends on, sorted.
	DependForms []string
	// Extra is the value for annotation lynq.sh/extra, or "".
	Extra string
	// Expires is when the row expires, or zero.
	Expires time.Time
	// Objects are in the order of their waves. Within a wave, each comes after all objects
	// that it depends on.
	Objects []Object
	// Hooks run before lynqctl deletes the node, in a similar order. HooksLeftOut is set if
	// a selector leaves out the recorded hooks.
	Hooks        []Object
	HooksLeftOut bool
	// NotIncluded are the form's resources that the row doesn't get, see lynq.Drops.
	NotIncluded []string
	// Tombstones name other objects to delete.
	Tombstones []lynq.Tombstone
	// Failed says why the row failed to render. Then lynqctl changes and deletes nothing of
	// the node.
	Failed error
	// Claims are the objects that the row may need if it failed to render.
	Claims Claims
}

// RenderError says why a node failed to render. Its text is for the user who runs lynqctl,
// and may quote the row.
type RenderError struct {
	Err error
	// Masked is the text without the row's values, for records.
	Masked string
	// Shared is the text without the row, the same for all rows with the same problems.
	Shared string
}

// Error implements error.
func (e *RenderError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *RenderError) Unwrap() error { return e.Err }

// Object returns the node's object of a reference, or nil. Most inventories list objects in
// the node's order, so Object looks first at the place in the inventory.
func (n *Node) Object(ref lynq.Ref, at int) *Object {
	for i := range n.Objects {
		if o := &n.Objects[(at+i)%len(n.Objects)]; o.Ref == ref {
			return o
		}
	}
	return nil
}

// Is reports whether an inventory belongs to the node, whatever its name.
func (n *Node) Is(inv *inventory.Inventory) bool {
	return inventory.SameNode(inv, &inventory.Inventory{
		Node: lynq.NodeID{Hub: n.Hub, Form: n.Form, UID: n.UID},
	})
}

// Awaited reports whether the node waits for the object to become ready. The form must wait
// for it, and the kind must have a readiness.
func (o *Object) Awaited() bool {
	return !o.Policy.Unwaited && !o.readyOnceThere()
}

// readyOnceThere reports whether the object is ready as soon as it exists.
func (o *Object) readyOnceThere() bool { return o.AtOnce || kinds.ReadyOnceThere(o.Group, o.Kind) }

// Object is the desired state of an object.
type Object struct {
	lynq.Ref
	APIVersion string
	ID         string
	DependIDs  []string
	// Order is 0 for an object without dependencies in its node. Otherwise it is one more
	// than the highest Order among its dependencies. Objects are deleted from the highest
	// to the lowest.
	Order int
	// Policy is shared with other objects, so nobody changes it.
	Policy *lynq.Policy
	// Exclusion is the rule that excludes the object, or nil. lynqctl neither reads nor
	// changes an excluded object.
	Exclusion *lynq.Exclusion
	// Body is the manifest without the values that only the cluster knows. In a large run it
	// is in a file, so that the manifests of unchanged objects, which nobody reads, need no
	// memory.
	Body manifest.Body
	// Digest changes whenever lynqctl must write the object again. It covers the manifest
	// and the policies for writing it.
	Digest string
	// Mark is the digest of the manifest alone. lynqctl writes it to the object, so that
	// nobody who may only write the inventory decides that the object is up to date. It is
	// "" for a hook.
	Mark string
	// Template is a digest of the object's template in the form, independent of the row. If
	// it is equal, Digest has changed because of the row.
	Template string
	// LeftOut is set if a selector leaves the object out of this run. lynqctl doesn't read
	// it, and keeps its entry.
	LeftOut bool
	// Owned is set if the object is tracked by an owner reference to the inventory, and not
	// by labels.
	Owned bool
	// Sensitive is set if the object has a value of a secret column, so that no message may
	// quote it.
	Sensitive bool
	// AtOnce is set for a Service that is ready as soon as it exists. Of other kinds, all
	// objects are or none is.
	AtOnce bool
	// Ends is set for an object that ends by itself: a Job, or a Pod whose containers don't
	// restart forever. Another client may delete it when its work is complete.
	Ends bool
}

// Marked reports whether an object has the mark of the desired manifest. The content of an
// object that is created once doesn't matter.
func (o *Object) Marked(l *tracking.Live) bool {
	return o.Policy.Creation.Once() || l.Mark == o.Mark
}

// rowMark ends the mark of an object that lynqctl also writes when its row changes. Its
// recorded digest covers the row, and the mark doesn't: readers of the object must not
// test guesses for columns that it doesn't contain.
const rowMark = "-row"

// MarkedAs returns the recorded object with the mark that a live object must have. The
// record of an object with a row's digest can't tell it. Earlier versions of lynqctl wrote
// no mark, and apply adds it.
func (o *Object) MarkedAs(l *tracking.Live) *Object {
	marked := *o
	if marked.Mark = o.Digest; l != nil && (l.Mark == "" || strings.HasSuffix(l.Mark, rowMark)) {
		marked.Mark = l.Mark
	}
	return &marked
}

// Completed reports whether an entry says that an object did its work in its current
// version and was deleted. An object that is created once does it only once. The form
// decides which objects may complete, because others may write the entry.
func (o *Object) Completed(r *inventory.Entry) bool {
	return r.Phase == inventory.PhaseCompleted && (o.Policy.PurgeOrder != nil || o.Ends) && o.did(r)
}

// Ended reports whether a run saw the work of an object complete. If the object is gone, or
// is being deleted, lynqctl doesn't create it again.
func (o *Object) Ended(r *inventory.Entry) bool {
	return r != nil && r.Ended && o.Ends && r.UID != "" && r.Digest != "" && o.did(r)
}

// did reports whether an entry is about the object's current version.
func (o *Object) did(r *inventory.Entry) bool {
	return r.Digest == o.Digest || o.Policy.Creation.Once()
}
