package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// restore makes the inventory of a node again that was deleted while the node's
// row is active, with what it had recorded. What belongs to the old one leaves it
// first: the garbage collector deletes what belongs to an object that is gone.
// The steps of the plan then give it to the new one.
func (n *nodeRun) restore(ctx context.Context) error {
	name := n.plan.Namespace + "/" + inventory.Name(n.plan.Name)
	n.report(Event{Type: EventWarning, Message: "ConfigMap " + name + ", the node's inventory, was deleted: it is restored, with the same objects (lynqctl delete node deletes them)"})
	for _, l := range n.plan.Replacement.Strays {
		n.report(Event{Type: EventWarning, Object: l.Ref, Message: plan.StrayWarning})
	}
	if n.Options.DryRun {
		return nil
	}
	restored, err := n.Inventories.Restore(n.finishing, n.inventory, func() (plan.Permit, error) { return n.detachAll(ctx) })
	if err != nil {
		return fmt.Errorf("restore inventory %s: %w", name, err)
	}
	n.inventory = restored
	return nil
}

// detachAll takes the owner reference to the inventory off all that has it.
func (n *nodeRun) detachAll(ctx context.Context) (plan.Permit, error) {
	permit, err := plan.PermitRestore(n.inventory, n.plan.Replacement)
	if err != nil {
		return permit, err
	}
	if err := n.reownManifests(false); err != nil {
		return plan.Permit{}, err
	}
	for _, o := range n.plan.Replacement.Moves {
		if err := n.reown(ctx, n.stepOf(o), nil); err != nil {
			return plan.Permit{}, err
		}
	}
	for _, l := range n.plan.Replacement.Strays {
		if err := n.detachStray(ctx, l); err != nil {
			return plan.Permit{}, err
		}
	}
	return permit, nil
}

// detachStray takes the owner reference off an object that the inventory does not list.
func (n *nodeRun) detachStray(ctx context.Context, l *plan.Live) error {
	return n.reown(ctx, n.stepOf(plan.Belonging{Entry: &inventory.Entry{Ref: l.Ref}, Live: l}), nil)
}

// detachStrays is detachStray for a node that leaves.
func (n *nodeRun) detachStrays() error {
	for _, l := range n.plan.Strays {
		n.report(Event{Type: EventWarning, Object: l.Ref, Message: plan.StrayWarning})
		if err := n.detachStray(n.finishing, l); err != nil {
			return err
		}
	}
	return nil
}

// stepOf is the step of an object, or where the plan has none one that does nothing.
func (n *nodeRun) stepOf(o plan.Belonging) *stepRun {
	at := slices.IndexFunc(n.steps, func(s stepRun) bool { return s.Live != nil && s.ref() == o.Live.Ref })
	if at >= 0 {
		return &n.steps[at]
	}
	return &stepRun{Step: &plan.Step{Entry: o.Entry, Live: o.Live}}
}

// attachAll gives all objects an owner reference to the inventory.
func (n *nodeRun) attachAll(ctx context.Context) error {
	if err := n.reownManifests(true); err != nil {
		return err
	}
	for i := range n.steps {
		if err := n.reown(ctx, &n.steps[i], n.ownerReference()); err != nil {
			return err
		}
	}
	return nil
}

// reown replaces the owner references to inventories of an object, and no other: by
// that to the inventory that is there now, or by none.
func (n *nodeRun) reown(ctx context.Context, s *stepRun, owner any) error {
	var err error
	if s.resource, err = n.resourceOf(s); err != nil {
		return fmt.Errorf("%s: %w", s.ref(), err)
	}
	w := &sender{nodeRun: n, s: s}
	for try := 0; ; try++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		now, err := w.tryReown(owner)
		switch {
		case apierrors.IsNotFound(err):
			return nil // the step finds out what is there now
		case err == nil:
			again := *w.s.Step
			again.Live = now
			w.s.Step = &again
			return nil
		case errors.Is(err, errReplaced) && owner != nil:
			return nil
		case errors.Is(err, errReplaced) && try < maxTries:
			if w.s, err = n.another(s); w.s == nil || err != nil {
				return err
			}
		case problemOf(err).kind != problemMoved || try == maxTries:
			return fmt.Errorf("%s: %w", s.ref(), err)
		}
	}
}

// another is a step of the object that is in the place of the one which was observed,
// nil for none: it may refer to the inventory too, as after kubectl replace --force.
func (n *nodeRun) another(s *stepRun) (*stepRun, error) {
	m, err := n.Cluster.Metadata(n.finishing, s.resource, s.ref().Namespace, s.ref().Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.ref(), err)
	}
	l := plan.LiveOf(s.ref(), m)
	return &stepRun{Step: &plan.Step{Entry: &inventory.Entry{Ref: s.ref()}, Live: &l}, resource: s.resource}, nil
}

func (w *sender) tryReown(owner any) (*plan.Live, error) {
	live, err := w.get()
	if err != nil {
		return nil, err
	}
	then, err := plan.LiveOfObject(w.s.ref(), live)
	if err != nil {
		return nil, err
	}
	references, _, err := unstructured.NestedSlice(live.Object, "metadata", "ownerReferences")
	if err != nil {
		return nil, err
	}
	c := fields.MetadataChange{Owners: slices.DeleteFunc(references, lynq.IsOwnerNode)}
	if owner != nil {
		c.Owners = append(c.Owners, owner)
	}
	done, err := w.change(live, c)
	if err != nil {
		return nil, err
	}
	now := plan.LiveOf(w.s.ref(), done.meta)
	if owner == nil && w.owner().Owns(&now) {
		if now, err = w.takeOff(done, c); err != nil {
			return nil, err
		}
	}
	if w.s.entry != nil {
		w.s.entry = new(plan.Moved(*w.s.entry, then, &now))
	}
	return &now, nil
}

// takeOff takes off what an apply leaves, because another client applied the same owner
// reference, from a copy perhaps.
func (w *sender) takeOff(done result, c fields.MetadataChange) (plan.Live, error) {
	live, err := w.left(done)
	if err != nil {
		return plan.Live{}, err
	}
	patch, err := fields.MetadataPatch(live, c)
	if err != nil {
		return plan.Live{}, err
	}
	done, err = w.reowned(Write{Verb: MergePatch, Body: patch})
	if err != nil {
		return plan.Live{}, err
	}
	now := plan.LiveOf(w.s.ref(), done.meta)
	if w.owner().Owns(&now) {
		return now, errOwned
	}
	return now, nil
}

// errOwned: an object still belongs to the inventory that is to go.
var errOwned = errors.New("another client puts its owner reference back (stop that client, then run again)")

// Restore makes an inventory again that was lost, with what it had recorded, and gives
// it what belonged to it. A run that is killed at any moment leaves what the next one
// goes on from.
func Restore(ctx context.Context, c Cluster, inventories Inventories, r *plan.Restoration) error {
	key := plan.NodeKey{Namespace: r.Namespace, Name: r.Node}
	n := &nodeRun{
		run:       &run{Runner: &Runner{Cluster: c, Inventories: inventories}},
		finishing: ctx,
		plan:      &plan.NodePlan{NodeKey: key, Hub: r.Hub, Replacement: r.Replacement},
		inventory: r.Inventory,
	}
	for _, o := range r.Objects {
		n.steps = append(n.steps, stepRun{Step: &plan.Step{Entry: o.Entry, Live: o.Live}, entry: o.Entry})
	}
	err := n.remake(ctx)
	if err == nil {
		err = n.attachAll(ctx)
	}
	if err == nil {
		err = n.recordMoved()
	}
	if err != nil {
		return fmt.Errorf("restore inventory %s/%s: %w", r.Namespace, inventory.Name(r.Node), InNamespace(r.Namespace, OrAnotherNamespace, err))
	}
	return nil
}

// remake makes the ConfigMap again where it is deleted or gone.
func (n *nodeRun) remake(ctx context.Context) (err error) {
	switch {
	case n.inventory.Deleting:
		n.inventory, err = n.Inventories.Restore(ctx, n.inventory, func() (plan.Permit, error) { return n.detachAll(ctx) })
		return err
	case n.inventory.UID == "":
		return n.save(n.inventory)
	}
	return nil
}

// recordMoved records what the owner references changed of objects, which would look
// like a change of others else.
func (n *nodeRun) recordMoved() error {
	next := n.inventory.Clone()
	for i := range n.steps {
		s := &n.steps[i]
		at := slices.IndexFunc(next.Entries, func(e inventory.Entry) bool { return e.Ref == s.Entry.Ref })
		if at >= 0 {
			next.Entries[at] = *s.entry
		}
	}
	if inventory.Equal(n.inventory, next) {
		return nil
	}
	return n.save(next)
}
