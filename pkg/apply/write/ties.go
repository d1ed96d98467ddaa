package write

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// What ties an object to its node: labels, annotations and owner references. Each of
// these takes some of it off, and leaves the content alone. A change of the object in
// between is an error of kind ProblemMoved, which asks for another try.

// errOwned: an object still belongs to the inventory that is to go.
var errOwned = errors.New("another client puts its owner reference back (stop that client, then run again)")

var errManagedAgain = errors.New("it is marked as unmanaged no more; apply again")

// Disown takes the reference to the node's inventory off a record that is listed as an
// object of the node: the collector would delete the record with the inventory.
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

// Untrack takes the node's tracking off the object, along with another change.
func (o *Object) Untrack(c fields.MetadataChange) error {
	live, err := o.get()
	if errors.Is(err, ErrReplaced) {
		return nil // it is another object, and nothing of it is ours
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
		return nil // another owner has it by now
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
	// Another client applied the same tracking, or the owner reference alone, from a copy
	// perhaps, so that an apply leaves it there: the garbage collector deletes by it. The
	// version is that of our own write, so that the judgement above still holds.
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

// DisownUnmanaged takes the reference to the inventory off an object that a person marked
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
	c := fields.MetadataChange{Owners: slices.DeleteFunc(references, wellknown.IsOwnerNode)}
	if l.PartOf == me.PartOf && l.Node == "" {
		c.SetLabels = map[string]string{wellknown.LabelNode: me.Name, wellknown.LabelNodeNamespace: me.Namespace}
	}
	_, err = o.change(live, c)
	return err
}

// Reown replaces the owner references to inventories of the object, by this or by none,
// and gives the object as it was, and as it is then.
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
	c := fields.MetadataChange{Owners: slices.DeleteFunc(references, wellknown.IsOwnerNode)}
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

// takeOff takes off what an apply leaves, because another client applied the same owner
// reference, from a copy perhaps.
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
