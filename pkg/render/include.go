package render

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// include decides which resources the row has. Where a condition fails, the row does.
func (f *frame) include(problems *lynq.Problems) {
	for i := range f.program.uses {
		if f.program.uses[i].condition {
			f.fill(i, problems)
		}
	}
	for i := range f.program.resources {
		when := f.program.resources[i].when
		if f.left[i] = false; when == nil {
			continue
		}
		switch text := f.textOf(when); string(text) {
		case "true":
		case "false":
			f.left[i] = true
		default:
			f.notBoolean(i, text, problems)
		}
	}
}

// notIncluded are the ids of the resources that the row does not get.
func (f *frame) notIncluded() []string {
	var ids []string
	for i, left := range f.left {
		if left {
			ids = append(ids, f.program.resources[i].ID)
		}
	}
	return ids
}

func (f *frame) notBoolean(i int, text []byte, problems *lynq.Problems) {
	if len(*problems) > 0 && len(text) == 0 {
		return // it could not be run, which has been told
	}
	r := &f.program.resources[i]
	what := lynq.Quote(string(text))
	if slot := r.when.slot; slot != noSlot && f.program.uses[slot].at.secret {
		what = "something else"
	}
	f.fail(problems, place{pos: r.IncludeWhen.Pos, resource: r.ID, field: "includeWhen"},
		"end it with | bool for a column that says yes or no in another way", "it gives %s, and true or false is needed", what)
}

// idle tells whether no resource of the row needs an expression, or it has been run.
func (f *frame) idle(u *usage) bool {
	return u.condition || !u.always && !slices.ContainsFunc(u.of, func(resource int) bool { return !f.left[resource] })
}
