package write

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Labels, annotations and owner references tie an object to its node. Each function here
// removes some of them, and leaves the content alone. If the object changes meanwhile, the
// error is of kind ProblemMoved, which asks for another attempt.

// errOwned means that an object still refers to the inventory that lynqctl is about to
// delete.
var errOwned = errors.New("another client puts its owner reference back (stop that client, then run again)")

var errManagedAgain = errors.New("it is marked as unmanaged no more; apply again")

// Disown removes the reference to the node's inventory from a record that is listed as an
// object of the node. Otherwise the garbage collector would delete the record with the
// inventory.
func (o *Object) Disown() error {
	live, err := o.get()
	if errors.Is(err, ErrReplaced) {
		return nil
	}
	if err != nil {
		return err
	}
	me := o.Me
	references, _, _ := unstructured.NestedSlice(live.Object, "metadata", "ownerReferences")
	kept := slices.DeleteFunc(slices.Clone(references), func(reference any) bool {
		r, _ := reference.(map[string]any)
		return me.UID != "" && r["uid"] == string(me.UID)
	})
	if len(kept) == len(references) {
		return nil
	}
	patch, err := fields.MetadataPatch(live, fields.MetadataChange{Owners: kept})
	if err == nil {
		_, err = o.reowned(o.seen(live), Request{Verb: MergePatch, Body: patch}, false)
	}
	return err
}

// Untrack removes the node's tracking from the object, together with another change.
func (o *Object) Untrack(c fields.MetadataChange) error {
	live, err := o.get()
	if errors.Is(err, ErrReplaced) {
		return nil // another object has the name, and it isn't ours
	}
	if err != nil {
		return err
	}
	now, err := tracking.LiveOfObject(o.Step.Ref(), live)
	if err != nil {
		return err
	}
	step, verdict := o.Decide(o.Step, now)
	o.becomes(step)
	switch me := o.Me; {
	case verdict != decide.VerdictHolds:
		return ErrTurned
	case !me.Tracks(now) && !me.Owns(now):
		return nil // another owner has it now
	}
	c.Owners = o.owners(live)
	done, err := o.change(live, c)
	if err != nil || o.DryRun {
		return err
	}
	l := tracking.LiveOf(o.Step.Ref(), done.Meta)
	if me := o.Me; !me.Tracks(&l) && !me.Owns(&l) {
		return nil
	}
	// Another client applied the same tracking or owner reference, perhaps from a copy, so
	// our apply can't remove it. The garbage collector would act on it. The version comes
	// from our own write, so the decision above still holds.
	if live, err = o.left(done); err != nil {
		return err
	}
	c.Owners = o.owners(live)
	patch, err := fields.MetadataPatch(live, c)
	if err == nil {
		_, err = o.reowned(o.seen(live), Request{Verb: MergePatch, Body: patch}, false)
	}
	return err
}

// DisownUnmanaged removes the reference to the inventory from an object that a user marked
// as unmanaged.
func (o *Object) DisownUnmanaged() error {
	live, err := o.get()
	if err != nil {
		return err
	}
	l, err := tracking.LiveOfObject(o.Step.Ref(), live)
	if err != nil {
		return err
	}
	me := o.Me
	switch {
	case !l.Unmanaged:
		return errManagedAgain
	case !me.Owns(l):
		return nil
	}
	references, _, _ := unstructured.NestedSlice(live.Object, "metadata", "ownerReferences")
	c := fields.MetadataChange{Owners: slices.DeleteFunc(references, o.leadsHere)}
	if l.PartOf == me.PartOf && l.Node == "" {
		c.SetLabels = lynq.NodeLabels(me.Hub, me.NodeKey)
	}
	_, err = o.change(live, c)
	return err
}

// leadsHere reports whether an owner reference leads to an inventory. One that has the uid of
// the node's inventory does, also with a wrong name or kind, which anybody can write.
func (o *Object) leadsHere(reference any) bool {
	r, _ := reference.(map[string]any)
	return wellknown.IsOwnerNode(reference) || o.Me.UID != "" && r["uid"] == string(o.Me.UID)
}

// Reown replaces the object's owner references to inventories by owner, or removes them if
// it is nil. It returns the object before and after the write.
func (o *Object) Reown(owner any) (then, now *tracking.Live, err error) {
	live, err := o.get()
	if err != nil {
		return nil, nil, err
	}
	then, err = tracking.LiveOfObject(o.Step.Ref(), live)
	if err != nil {
		return nil, nil, err
	}
	references, _, err := unstructured.NestedSlice(live.Object, "metadata", "ownerReferences")
	if err != nil {
		return nil, nil, err
	}
	c := fields.MetadataChange{Owners: slices.DeleteFunc(references, o.leadsHere)}
	if owner != nil {
		c.Owners = append(c.Owners, owner)
	}
	done, err := o.change(live, c)
	if err != nil {
		return nil, nil, err
	}
	l := tracking.LiveOf(o.Step.Ref(), done.Meta)
	if owner == nil && o.Me.Owns(&l) {
		if l, err = o.takeOff(done, c); err != nil {
			return nil, nil, err
		}
	}
	return then, &l, nil
}

// takeOff removes an owner reference that an apply leaves, because another client applied
// it too, perhaps from a copy.
func (o *Object) takeOff(done Result, c fields.MetadataChange) (tracking.Live, error) {
	live, err := o.left(done)
	if err != nil {
		return tracking.Live{}, err
	}
	patch, err := fields.MetadataPatch(live, c)
	if err != nil {
		return tracking.Live{}, err
	}
	done, err = o.reowned(o.seen(live), Request{Verb: MergePatch, Body: patch}, false)
	if err != nil {
		return tracking.Live{}, err
	}
	now := tracking.LiveOf(o.Step.Ref(), done.Meta)
	if o.Me.Owns(&now) {
		return now, errOwned
	}
	return now, nil
}
