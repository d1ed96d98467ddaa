package write

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
)

// ErrRecreate asks the caller to delete the object and create it again.
var ErrRecreate = errors.New("lynqctl must delete and create it again; apply again")

// applyOrRecreate implements patchStrategy recreate. It applies changes of metadata in
// place. For any other change it returns ErrRecreate, after the server has tried the new
// manifest.
func (w *writer) applyOrRecreate() (Result, error) {
	live, err := w.o.current()
	if err != nil {
		return Result{}, err
	}
	if inPlace := w.InPlace(w.o.Step, live.Object); inPlace != nil {
		w.o.becomes(*inPlace)
		return w.apply()
	}
	due, err := w.due(live)
	if err != nil {
		return Result{}, err
	}
	action := plan.ActionUpdate
	if due {
		action = plan.ActionRecreate
	}
	w.o.becomes(w.o.Step.As(action, w.o.Step.Reason))
	if !due {
		w.note = nil // the write reports the same again
		return w.apply()
	}
	if err := w.tryCreate(live); err != nil {
		return Result{}, err
	}
	w.Notes = w.note
	return Result{}, ErrRecreate
}

// due asks the server what an apply would change. A field that another client manages with
// another value doesn't count, because it is no change of the form.
func (w *writer) due(live *unstructured.Unstructured) (bool, error) {
	body, _, err := w.fitted(live)
	if err != nil {
		return false, err
	}
	request := w.o.named(Request{Verb: Apply, Body: w.bodyOf(body, live.GetUID(), live.GetResourceVersion())})
	would, _, err := w.o.Cluster.Try(w.o.Ctx, w.o.Resource, request)
	if p := ProblemOf(err); p.Kind == ProblemFields {
		if err := w.resolveConflicts(p.Conflicts); err != nil {
			return false, err
		}
		if body, err = undrifted(body, live); err != nil {
			return false, err
		}
		request.Force, request.Body = true, w.bodyOf(body, live.GetUID(), live.GetResourceVersion())
		would, _, err = w.o.Cluster.Try(w.o.Ctx, w.o.Resource, request)
	}
	switch p := ProblemOf(err); p.Kind {
	case ProblemImmutable:
		w.note = append(w.note, strings.Join(p.Paths, ", ")+" cannot change in place")
		return true, nil
	case ProblemInvalid: // perhaps only beside the old object's fields, and tryCreate finds out
		if excludes, err := w.excludes(body, live, p); excludes || err != nil {
			return excludes, err
		}
	}
	return err == nil && !fields.SameButMetadata(would, live), err
}

// tryCreate makes the server try to create the object while the old one exists. The server
// refuses a bad manifest before it reports that the name exists.
func (w *writer) tryCreate(live *unstructured.Unstructured) error {
	said, err := w.manifest().Content()
	if err != nil {
		return err
	}
	body, err := manifest.Encode(fields.WithoutHeld(said, live))
	if err != nil {
		return err
	}
	_, _, err = w.o.Cluster.Try(w.o.Ctx, w.o.Resource, w.o.named(Request{Verb: Create, Body: w.bodyOf(body, "", "")}))
	if err == nil || ProblemOf(err).Kind == ProblemExists {
		return nil
	}
	return fmt.Errorf("the old object stays, since the new one cannot be created: %w", err)
}

// undrifted returns a body without the fields that other clients set to another value.
func undrifted(body manifest.Body, live *unstructured.Unstructured) (manifest.Body, error) {
	content, err := body.Content()
	if err != nil {
		return nil, err
	}
	if content, err = fields.Undrifted(content, live); err != nil {
		return nil, err
	}
	return manifest.Encode(content)
}
