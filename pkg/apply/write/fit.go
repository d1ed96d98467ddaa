package write

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
)

// These functions fit a manifest to a live object, before or after the server refused it.

func (w *writer) builtIn() bool { return kinds.BuiltIn(w.o.Step.Object.Group) }

// fitted returns the body for an apply without ignored fields and empty values that others
// fill, and the version that it is valid for.
func (w *writer) fitted(live *unstructured.Unstructured) (manifest.Body, string, error) {
	o, body := w.o.Step.Object, w.manifest()
	if len(o.Policy.IgnoreFields) == 0 && !body.HasEmpty() {
		return body, "", nil
	}
	content, err := w.yielded(live)
	if err != nil {
		return nil, "", err
	}
	if w.builtIn() || w.strips {
		fields.DropNulls(content)
	}
	precondition := false
	if len(o.Policy.IgnoreFields) > 0 {
		if content, precondition, err = fields.Ignore(content, live, o.Policy.IgnoreFields); err != nil {
			return nil, "", fmt.Errorf("ignoreFields: %w", err)
		}
	}
	body, err = manifest.Encode(content)
	if err != nil || !precondition {
		return body, "", err
	}
	return body, live.GetResourceVersion(), nil
}

// leaving returns the manifest for a merge or a replacement, and the part of it that the form
// sets. The former has live values where the form leaves fields to others.
func (w *writer) leaving(live *unstructured.Unstructured) (desired, said map[string]any, err error) {
	p := w.o.Step.Object.Policy
	content, err := w.manifest().Content()
	if err != nil {
		return nil, nil, err
	}
	if desired, err = fields.Yield(content, live, p.Patch == lynq.PatchReplace); err != nil {
		return nil, nil, err
	}
	if said, err = fields.Yield(content, live, false); err != nil || len(p.IgnoreFields) == 0 {
		return desired, said, err
	}
	if desired, err = fields.CarryIgnored(desired, live, p.IgnoreFields); err == nil {
		said, err = fields.DropIgnored(said, live, p.IgnoreFields)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("ignoreFields: %w", err)
	}
	return desired, said, nil
}

// yielded returns the manifest without empty values that others fill.
func (w *writer) yielded(live *unstructured.Unstructured) (map[string]any, error) {
	content, err := w.manifest().Content()
	if err != nil {
		return nil, err
	}
	return fields.Yield(content, live, false)
}

// withoutNulls removes the nulls of a body for a new object. Custom resources keep them as
// long as the server accepts them, because null may be a value.
func (w *writer) withoutNulls(body manifest.Body) (manifest.Body, error) {
	if !body.HasNull() || !w.builtIn() && !w.strips {
		return body, nil
	}
	content, err := body.Content()
	if err != nil {
		return nil, err
	}
	fields.DropNulls(content)
	return manifest.Encode(content)
}

// mayStrip reports whether the server refused a custom resource because of its nulls.
func (w *writer) mayStrip(p Problem) bool {
	if p.Kind != ProblemInvalid || w.strips || w.builtIn() || !w.manifest().HasNull() {
		return false
	}
	content, err := w.manifest().Content()
	return err == nil && fields.NullAt(content, p.Paths)
}

// claimNulls makes lynq apply the fields that the manifest sets to null, if no other manager
// has them. So the next apply removes them.
func (w *writer) claimNulls(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if !w.manifest().HasNull() || !w.builtIn() && !w.strips || w.o.DryRun {
		return live, nil
	}
	content, err := w.yielded(live)
	if err != nil {
		return nil, err
	}
	set, err := fields.Nulls(content, live)
	if err != nil {
		return nil, err
	}
	done, err := w.claim(live, set)
	if err != nil || done.Meta == nil {
		return live, err
	}
	return w.o.left(done)
}

// claim makes lynq apply more fields. The result is empty if it applies them already.
func (w *writer) claim(live *unstructured.Unstructured, set *fieldpath.Set) (Result, error) {
	patch, err := fields.Claim(live, set)
	if err != nil || patch == nil {
		return Result{}, err
	}
	return w.o.write(Request{Verb: JSONPatch, Body: patch})
}

// dropLeftovers claims the fields that the server refuses beside the manifest, and that
// nobody manages. It returns ErrMoved, so that the next attempt drops them.
func (w *writer) dropLeftovers(failed error, said map[string]any, live *unstructured.Unstructured) error {
	p := ProblemOf(failed)
	if w.mayStrip(p) {
		w.strips = true
		return ErrMoved
	}
	_, set, err := fields.Leftovers(said, live, p.Paths)
	if err != nil {
		return err
	}
	if w.dropped || set.Empty() {
		return failed
	}
	done, err := w.claim(live, set)
	if ProblemOf(err).Kind == ProblemMoved {
		return err // the next attempt claims them
	}
	w.dropped = true
	if err != nil || done.Meta == nil {
		return failed
	}
	w.Notes = append(w.Notes, "dropped "+strayFields(set))
	return ErrMoved
}

// mergeWithout repeats a merge that the server refused, with null for the fields that it
// refuses beside the manifest.
func (w *writer) mergeWithout(desired map[string]any, live *unstructured.Unstructured, p Problem, done Result, failed error) (Result, error) {
	without, set, err := fields.Leftovers(desired, live, p.Paths)
	if err != nil || set.Empty() {
		return done, failed
	}
	request, err := w.merge(without, live)
	if err != nil {
		return Result{}, err
	}
	again, err := w.o.write(request)
	if ProblemOf(err).Kind == ProblemInvalid {
		return done, failed
	}
	w.note = append(w.note, w.took("dropped", "drop", strayFields(set)))
	return again, err
}

// tryWithout tries an apply in a dry run that the server refused, with null for the fields
// that it refuses beside the manifest. Only the run itself can claim them.
func (w *writer) tryWithout(body manifest.Body, failed error) (Result, error) {
	said, err := body.Content()
	if err != nil {
		return Result{}, err
	}
	live, err := w.o.get()
	if err != nil {
		return Result{}, err
	}
	return w.mergeWithout(said, live, ProblemOf(failed), Result{}, failed)
}

// excludes reports whether the server refused a body because of fields beside it.
func (w *writer) excludes(body manifest.Body, live *unstructured.Unstructured, p Problem) (bool, error) {
	said, err := body.Content()
	if err != nil {
		return false, err
	}
	_, set, err := fields.Leftovers(said, live, p.Paths)
	if err != nil || set.Empty() {
		return false, err
	}
	w.note = append(w.note, strings.Join(p.Paths, ", ")+" cannot change in place")
	return true, nil
}

// strayFields names fields that a write drops.
func strayFields(set *fieldpath.Set) string {
	var paths []string
	set.Iterate(func(p fieldpath.Path) { paths = append(paths, p.String()) })
	return strings.Join(paths, ", ") + ", which no other client manages"
}
