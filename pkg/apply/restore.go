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
	me := n.owner()
	if err := n.reownManifests(false); err != nil {
		return plan.Permit{}, err
	}
	if err := n.reownAll(ctx, me.Owns); err != nil {
		return plan.Permit{}, err
	}
	return plan.PermitRestore(n.inventory, nil)
}

// attachAll gives all objects an owner reference to the inventory.
func (n *nodeRun) attachAll(ctx context.Context) error {
	if err := n.reownManifests(true); err != nil {
		return err
	}
	return n.reownAll(ctx, func(*plan.Live) bool { return true }, n.ownerReference())
}

// reownAll replaces the owner references to inventories of the objects that are meant.
func (n *nodeRun) reownAll(ctx context.Context, meant func(*plan.Live) bool, owners ...any) error {
	for i := range n.steps {
		s := &n.steps[i]
		if s.Live == nil || !meant(s.Live) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := n.reown(s, owners); err != nil {
			return fmt.Errorf("%s: %w", s.ref(), err)
		}
	}
	return nil
}

// reown replaces the owner references to inventories of an object, and no other.
func (n *nodeRun) reown(s *stepRun, owners []any) error {
	resource, err := n.resourceOf(s)
	if err != nil {
		return err
	}
	s.resource = resource
	w := &sender{nodeRun: n, s: s}
	for try := 0; ; try++ {
		now, err := w.tryReown(owners)
		switch {
		case apierrors.IsNotFound(err) || errors.Is(err, errReplaced):
			return nil // the step finds out what is there now
		case err == nil:
			again := *s.Step
			again.Live = now
			s.Step = &again
			return nil
		case problemOf(err).kind != problemMoved || try == maxTries:
			return err
		}
	}
}

func (w *sender) tryReown(owners []any) (*plan.Live, error) {
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
	kept := slices.DeleteFunc(references, lynq.IsOwnerNode)
	done, err := w.change(live, fields.MetadataChange{Owners: append(kept, owners...)})
	if err != nil {
		return nil, err
	}
	now := plan.LiveOf(w.s.ref(), done.meta)
	if w.s.entry != nil {
		w.s.entry = new(plan.Moved(*w.s.entry, then, &now))
	}
	return &now, nil
}

// Restore makes an inventory again that was lost, with what it had recorded, and gives
// it what belonged to it. A run that is killed at any moment leaves what the next one
// goes on from.
func Restore(ctx context.Context, c Cluster, inventories Inventories, r *plan.Restoration) error {
	key := plan.NodeKey{Namespace: r.Namespace, Name: r.Node}
	n := &nodeRun{
		run:       &run{Runner: &Runner{Cluster: c, Inventories: inventories}},
		finishing: ctx,
		plan:      &plan.NodePlan{NodeKey: key, Hub: r.Hub},
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
