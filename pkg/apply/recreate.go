package apply

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// errRecreate: the object is to be deleted and created again.
var errRecreate = errors.New("it is to be deleted and created again; apply again")

// applyOrRecreate is patchStrategy recreate. What changes nothing but metadata, or
// nothing, is applied in place. For all else it is errRecreate, once the server has
// tried the new manifest.
func (w *sender) applyOrRecreate() (result, error) {
	live, err := w.current()
	if err != nil {
		return result{}, err
	}
	if inPlace := w.of.WithClaims(w.s.Step, live.Object); inPlace != nil {
		w.s.Step = inPlace
		return w.apply()
	}
	due, err := w.due(live)
	if err != nil {
		return result{}, err
	}
	step := *w.s.Step
	step.Action = plan.ActionUpdate
	if due {
		step.Action = plan.ActionRecreate
	}
	w.s.Step = &step
	if !due {
		w.note = nil // the write itself tells
		return w.apply()
	}
	if err := w.tryCreate(live); err != nil {
		return result{}, err
	}
	w.s.notes = w.note
	return result{}, errRecreate
}

// due asks the server what an apply would change.
func (w *sender) due(live *unstructured.Unstructured) (bool, error) {
	body, _, err := w.withoutIgnored(live)
	if err != nil {
		return false, err
	}
	request := w.named(Write{Verb: Apply, Body: w.bodyOf(body, live.GetUID(), live.GetResourceVersion())})
	would, _, err := w.Cluster.Try(w.finishing, w.s.resource, request)
	if p := problemOf(err); p.kind == problemFields {
		if err := w.resolveConflicts(p.conflicts); err != nil {
			return false, err
		}
		request.Force = true
		would, _, err = w.Cluster.Try(w.finishing, w.s.resource, request)
	}
	if p := problemOf(err); p.kind == problemImmutable {
		w.note = append(w.note, strings.Join(p.paths, ", ")+" cannot change in place")
		return true, nil
	}
	return err == nil && !fields.SameButMetadata(would, live), err
}

// tryCreate has the server try to create the object while the one that is to go is
// there: a manifest that it would not take is refused before it says that there is one
// of that name.
func (w *sender) tryCreate(live *unstructured.Unstructured) error {
	manifest, err := w.manifest().Content()
	if err != nil {
		return err
	}
	body, err := plan.NewBody(fields.WithoutHeld(manifest, live))
	if err != nil {
		return err
	}
	_, _, err = w.Cluster.Try(w.finishing, w.s.resource, w.named(Write{Verb: Create, Body: w.bodyOf(body, "", "")}))
	if err == nil || problemOf(err).kind == problemExists {
		return nil
	}
	return fmt.Errorf("the old object stays, since the new one cannot be created: %w", err)
}

// named is a request for the step's object.
func (w *sender) named(r Write) Write {
	r.Namespace, r.Name = w.s.ref().Namespace, w.s.ref().Name
	return r
}

// recreate deletes an object that is to be created again when it is gone. Its entry
// stays all the while, without the uid, so that whichever run comes next creates it.
func (n *nodeRun) recreate(s *stepRun) {
	if plan.IsContainer(s.ref()) && n.holdsOthers(s) {
		return
	}
	if n.Options.DryRun {
		n.end(s, OutcomeDone, strings.Join(s.notes, "; "))
		return
	}
	permit, err := n.permit(s)
	if err != nil {
		n.failed(s, err)
		return
	}
	recorded, step := s.entry, s.Step
	if err = n.recordGoing(s); err != nil {
		n.failed(s, err)
		return
	}
	gone, err := n.Cluster.Delete(n.finishing, s.resource, permit, Deletion{Propagation: n.propagation()})
	switch {
	case apierrors.IsNotFound(err), err == nil && gone:
		n.vanished(s)
	case err == nil:
		n.watchDeleting(s)
		n.awaitGone(s, s.Object.Policy.Timeout)
	case apierrors.IsConflict(err):
		s.entry, s.Step = recorded, step // it is there
		n.deleteAgain(s)
	case problemOf(err).refused:
		s.entry, s.Step = recorded, step
		n.failed(s, err)
	default:
		n.failed(s, err)
	}
}

// recordGoing records an object as one that is yet to be created.
func (n *nodeRun) recordGoing(s *stepRun) error {
	r, step := plan.NewEntry(s.Object), *s.Step
	next := n.inventory.Clone()
	next.Entries = inventory.Intent(inventory.Forget(next.Entries, r.Ref), []inventory.Entry{r})
	if err := n.save(next); err != nil {
		return err
	}
	step.Entry = &r
	s.Step, s.entry = &step, &r
	return nil
}
