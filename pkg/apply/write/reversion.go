package write

import "github.com/lynqctl/lynqctl/pkg/apply/fields"

// reversion gives managers' entries of a version that the server no longer serves the
// version of the write, and reports whether the write can be tried again. The server
// refuses each apply to an object with such an entry, and any other write makes it forget
// all managers. A dry run changes nothing, so the write's own error remains.
func (w *writer) reversion(p *Problem) bool {
	if p.Kind != ProblemUnserved || w.o.DryRun || w.o.Step.Live == nil || w.o.Step.Object == nil {
		return false
	}
	live, err := w.o.get()
	if err != nil {
		return false
	}
	entries, changed, err := fields.Reversioned(live.GetManagedFields(), p.Unserved, w.o.Step.Object.APIVersion)
	if err != nil || !changed {
		return false
	}
	patch, err := fields.ManagersPatch(live, entries)
	if err != nil {
		return false
	}
	_, err = w.o.write(Request{Verb: JSONPatch, Body: patch})
	return err == nil || ProblemOf(err).Kind == ProblemMoved
}
