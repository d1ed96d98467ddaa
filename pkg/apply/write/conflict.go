package write

import (
	"errors"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// ConflictError is a conflict over fields that the policy doesn't let lynqctl take.
type ConflictError struct{ message string }

func (e *ConflictError) Error() string { return e.message }

// ErrReplaced means that another object has the name of the observed one.
var ErrReplaced = errors.New("it was deleted and created again meanwhile; apply again")

// ErrMoved means that the object changed since lynqctl read it.
var ErrMoved = errors.New("it changes all the time; apply again")

// took says which fields lynqctl takes, and in a dry run, which it would take.
func (w *writer) took(past, verb, fields string) string {
	if w.o.DryRun {
		return "would " + verb + " " + fields
	}
	return past + " " + fields
}

// resolveConflicts decides conflicts over fields. Force takes them. Otherwise lynqctl takes
// back its fields that an update changed, because an update ignores owners and so counts as
// drift. It never takes fields that another manager applied, or that lynqctl never managed.
func (w *writer) resolveConflicts(conflicts []fields.Conflict) error {
	// Fields from our own updates are ours too, and so is the tracking of our objects.
	override := w.o.Step.Object.Policy.Patch == lynq.PatchOverride
	conflicts = slices.DeleteFunc(slices.Clone(conflicts), func(f fields.Conflict) bool {
		return override && f.ClientSide() || f.Manager == wellknown.FieldManager || w.o.Step.Action != plan.ActionAdopt && ofTracking(f)
	})
	if len(conflicts) == 0 {
		return nil
	}
	s := w.o.Step
	list := fields.Describe(conflicts)
	if s.Object.Policy.Conflict == lynq.ConflictForce {
		w.note = append(w.note, w.took("took", "take", list))
		w.Record("ForceApply", s.Ref().String()+": took "+list)
		return nil
	}
	if w.o.Step.Repairs() && !slices.ContainsFunc(conflicts, func(f fields.Conflict) bool { return f.Applied }) {
		w.note = append(w.note, w.took("took back", "restore", list))
		return nil
	}
	return &ConflictError{fields.ManagedBy(conflicts) + " (set conflictPolicy: Force to take it over, or ignoreFields to leave it)"}
}
