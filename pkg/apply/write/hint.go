package write

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// hintedError is an error with a fix that depends on the live object.
type hintedError struct {
	error
	hint string
}

func (e *hintedError) Unwrap() error { return e.error }

// Hinted returns an error with a fix that depends on other objects.
func Hinted(err error, hint string) error { return &hintedError{err, hint} }

// hinted adds a fix to an error if the server can't change the live object that way.
func (w *writer) hinted(err error) error {
	p := ProblemOf(err)
	s := w.o.Step
	if p.Kind != ProblemImmutable && p.Kind != ProblemInvalid || s.Live == nil || s.Object == nil {
		return err
	}
	if hint := w.hintFor(p); hint != "" {
		return &hintedError{err, hint}
	}
	return err
}

// hintFor returns a fix for a refused change, or "". It never advises to delete an object
// because of a change by another client.
func (w *writer) hintFor(p Problem) string {
	differ := w.differences()
	if hint := sizeHint(w.o.Step.Ref(), p.Paths, differ); hint != "" {
		return hint
	}
	if p.Kind != ProblemImmutable {
		return ""
	}
	changed := slices.DeleteFunc(differ, func(d fields.Difference) bool { return !concerns(p.Paths, d.Path) })
	drifted := w.o.Step.Action != plan.ActionAdopt && !slices.ContainsFunc(changed, func(d fields.Difference) bool { return !d.Others })
	if w.o.Step.Unaltered() || drifted && len(changed) > 0 {
		return driftHint(p.Paths, changed)
	}
	return immutableHint(w.o.Step, p.Paths)
}

// differences compares the manifest with the current object. It returns nil if it can't, and
// then the hint is a general one.
func (w *writer) differences() []fields.Difference {
	said, err := w.manifest().Content()
	if err != nil {
		return nil
	}
	live, err := w.o.get()
	if err != nil {
		return nil
	}
	differ, err := fields.Differences(said, live)
	if err != nil {
		return nil
	}
	return differ
}

// concerns reports whether a field is at, above or below one of the server's paths. These
// have indexes in lists, and so only names are compared up to a list.
func concerns(paths []string, field string) bool {
	upToList := func(path string) string {
		head, _, _ := strings.Cut(path, "[")
		return strings.TrimPrefix(head, ".") + "."
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		a, b := upToList(path), upToList(field)
		return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
	})
}

const storagePath = ".spec.resources.requests.storage"

// sizeHint says how to fix a claim that another client expanded, or that the form shrinks.
func sizeHint(ref lynq.Ref, paths []string, differ []fields.Difference) string {
	i := slices.IndexFunc(differ, func(d fields.Difference) bool { return d.Path == storagePath })
	if ref.GroupKind() != "PersistentVolumeClaim" || i < 0 || !concerns(paths, storagePath) {
		return ""
	}
	size := fmt.Sprint(differ[i].Live)
	now, err := resource.ParseQuantity(size)
	wanted, errs := resource.ParseQuantity(fmt.Sprint(differ[i].Want))
	if err != nil || errs != nil || wanted.Cmp(now) >= 0 {
		return ""
	}
	return "a claim can't shrink, and it requests " + size + " now: set " + size + " in the form or the row, or add $" + storagePath + " to ignoreFields"
}

// driftHint says how to fix a change by another client that the server can't undo.
func driftHint(paths []string, changed []fields.Difference) string {
	names, managers := []string{}, []string{}
	for _, d := range changed {
		names = append(names, d.Path)
		for _, m := range d.Managers {
			if m = fmt.Sprintf("%q", m); !slices.Contains(managers, m) {
				managers = append(managers, m)
			}
		}
	}
	if len(names) == 0 {
		names = paths
	}
	by := ""
	if len(managers) > 0 {
		by = " (" + strings.Join(managers, ", ") + ")"
	}
	return "another client" + by + " set " + strings.Join(names, ", ") + ", and the server can't change that back: set the same value in the form, or add the field to ignoreFields"
}

// immutableHint says how to fix a change of immutable fields.
func immutableHint(s *plan.Step, paths []string) string {
	hint := strings.Join(paths, ", ") + " cannot change on an object that exists, which stays as it was: take the change back, or "
	p := s.Object.Policy
	switch {
	case s.InPlace != "":
		return hint + "delete the object so that it is created again; patchStrategy recreate does not, since " + s.InPlace
	case p.Patch == lynq.PatchRecreate:
		return hint + "apply again, which recreates it"
	case s.Adopted || p.Deletion != lynq.DeleteDelete || p.Creation.Once():
		return hint + "delete the object so that it is created again"
	case s.Ref().HoldsData():
		return hint + "set patchStrategy: recreate and apply with --include-data, which deletes it with its data and creates it again"
	}
	return hint + "set patchStrategy: recreate, which deletes it and creates it again"
}
