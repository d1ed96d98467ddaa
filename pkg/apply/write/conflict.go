package write

import (
	"errors"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// ConflictError is a conflict over fields that the policy does not let us win.
type ConflictError struct{ message string }

func (e *ConflictError) Error() string { return e.message }

// ErrReplaced says that another object is in the place of the one that was observed.
var ErrReplaced = errors.New("it was deleted and created again meanwhile; apply again")

// ErrMoved says that the object changed since it was read.
var ErrMoved = errors.New("it changes all the time; apply again")

// resolveConflicts decides conflicts over fields. Force takes them. Else what is ours
// and was changed since by an update, which knows no owners, is drift and is
// taken back; what another manager applied, or what was never ours, is not.
func (w *writer) resolveConflicts(conflicts []fields.Conflict) error {
	// Fields that we set by an update are ours too, and so is the tracking of what
	// is ours.
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
		w.note = append(w.note, "took "+list)
		w.Record("ForceApply", s.Ref().String()+": took "+list)
		return nil
	}
	if w.o.Step.Repairs() && !slices.ContainsFunc(conflicts, func(f fields.Conflict) bool { return f.Applied }) {
		w.note = append(w.note, "took back "+list)
		return nil
	}
	return &ConflictError{fields.ManagedBy(conflicts) + " (set conflictPolicy: Force to take it over, or ignoreFields to leave it)"}
}
