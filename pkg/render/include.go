package render

import (
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// include decides which resources the row gets. A failed condition fails the row.
func (f *frame) include(problems *lynq.Problems) {
	for i := range f.program.uses {
		if f.program.uses[i].condition {
			f.fill(i, problems)
		}
	}
	for i := range f.program.resources {
		when := f.program.resources[i].when
		if f.left[i] = false; when != nil {
			r := &f.program.resources[i]
			f.left[i] = !f.isTrue(when, place{pos: r.IncludeWhen.Pos, resource: r.ID, field: "includeWhen"}, problems)
		}
	}
	f.includeCharts(problems)
}

// isTrue returns the value of a condition. A result that is no boolean fails the row.
func (f *frame) isTrue(when *node, at place, problems *lynq.Problems) bool {
	text := f.textOf(when)
	switch string(text) {
	case "true", "false":
	default:
		f.notBoolean(when, at, text, problems)
	}
	return string(text) != "false"
}

// stages compiles the conditions of a rollout's stages.
func (c *compiler) stages(stages []form.Stage) {
	c.res = &form.Resource{ID: "rollout"}
	for i, s := range stages {
		var when *node
		if s.Match.IsSet() {
			c.program.conditional = true
			when = c.text(s.Match.Text, c.place(s.Match.Pos, stageField(i)), false, use{trim: true, condition: true})
		}
		c.program.stages = append(c.program.stages, when)
	}
}

func stageField(i int) string { return fmt.Sprintf("stages[%d].match", i) }

// match finds the first rollout stage whose template matches the row, counted from 1. It
// returns 0 for none. A failed condition fails the row.
func (f *frame) match(problems *lynq.Problems) int {
	first := 0
	for i, when := range f.program.stages {
		if when == nil {
			continue
		}
		switch text := f.textOf(when); string(text) {
		case "false":
		case "true":
			if first == 0 {
				first = i + 1
			}
		default:
			if len(*problems) == 0 || len(text) > 0 {
				at := place{pos: f.program.Form.Rollout.Stages[i].Match.Pos, resource: "rollout", field: stageField(i)}
				f.fail(problems, at, "end it with | bool for a column that says yes or no in another way", "it gives %s, and true or false is needed", phrase.Quote(string(text)))
			}
		}
	}
	return first
}

// notIncluded returns the resources that the row doesn't get, see lynq.Drops.
func (f *frame) notIncluded() []string {
	var ids []string
	for i, left := range f.left {
		if left {
			ids = append(ids, f.program.resources[i].ID)
		}
	}
	for i := range f.base.charts {
		drops := f.base.charts[i].drops
		if f.without[i] {
			drops = lynq.DropsChart(f.base.charts[i].ID, "")
		}
		ids = append(ids, drops)
	}
	return ids
}

func (f *frame) notBoolean(when *node, at place, text []byte, problems *lynq.Problems) {
	if len(*problems) > 0 && len(text) == 0 {
		return // it failed, and the error is reported
	}
	what := phrase.Quote(string(text))
	if slot := when.slot; slot != noSlot && f.program.uses[slot].at.secret {
		what = "something else"
	}
	f.fail(problems, at, "end it with | bool for a column that says yes or no in another way", "it gives %s, and true or false is needed", what)
}

// idle reports whether no resource of the row needs an expression, or whether it already
// ran.
func (f *frame) idle(u *usage) bool {
	return u.condition || !u.always && !slices.ContainsFunc(u.of, f.has)
}

// has reports whether the row gets a resource, or a chart (see compiler.owner).
func (f *frame) has(owner int) bool {
	if owner < 0 {
		return !f.without[-1-owner]
	}
	return !f.left[owner]
}
