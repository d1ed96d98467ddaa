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
	restored, err := n.Inventories.Restore(n.finishing, n.inventory, func() error { return n.detachAll(ctx) })
	if err != nil {
		return fmt.Errorf("restore inventory %s: %w", name, err)
	}
	n.inventory = restored
	return nil
}

// detachAll takes the owner reference to the inventory off all that has it.
func (n *nodeRun) detachAll(ctx context.Context) error {
	me := n.owner()
	for i := range n.steps {
		s := &n.steps[i]
		if s.Live == nil || !me.Owns(s.Live) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := n.detach(s); err != nil {
			return fmt.Errorf("%s: %w", s.ref(), err)
		}
	}
	return nil
}

// detach takes the owner reference to an inventory off an object, and no other.
func (n *nodeRun) detach(s *stepRun) error {
	resource, err := n.resourceOf(s)
	if err != nil {
		return err
	}
	s.resource = resource
	w := &sender{nodeRun: n, s: s}
	for try := 0; ; try++ {
		done, err := w.tryDetach()
		switch {
		case apierrors.IsNotFound(err) || errors.Is(err, errReplaced):
			return nil // the step finds out what is there now
		case err == nil:
			again := *s.Step
			l := plan.LiveOf(s.ref(), done.meta)
			again.Live = &l
			s.Step = &again
			return nil
		case problemOf(err).kind != problemMoved || try == maxTries:
			return err
		}
	}
}

func (w *sender) tryDetach() (result, error) {
	live, err := w.get()
	if err != nil {
		return result{}, err
	}
	owners, _, err := unstructured.NestedSlice(live.Object, "metadata", "ownerReferences")
	if err != nil {
		return result{}, err
	}
	return w.change(live, fields.MetadataChange{Owners: slices.DeleteFunc(owners, lynq.IsOwnerNode)})
}
