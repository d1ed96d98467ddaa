package form

import (
	"fmt"
	"strconv"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func applyOrder() twofold {
	return twofold{field: "applyOrder", annotation: lynq.AnnotationApplyOrder}
}

// wavePolicies are those that name a wave.
func wavePolicies() []twofold { return []twofold{applyOrder()} }

// readWaves reads the policies that name a wave. The manifest has been read.
func readWaves(o *object, r *Resource) {
	r.Policy.ApplyOrder, _ = twofoldWave(o, r, applyOrder())
}

// twofoldWave is the wave that a policy names, and where; 0 and no place where neither
// spelling has one.
func twofoldWave(o *object, r *Resource, p twofold) (int, lynq.Pos) {
	wave, at := 0, lynq.Pos{}
	if v := o.get(p.field); v != nil {
		wave, at = o.integer(p.field, lynq.LowestWave, lynq.HighestWave, 0), v.Pos
	}
	annotation := annotationText(o, r, p.annotation)
	if !annotation.isSet() {
		return wave, at
	}
	annotated, err := strconv.ParseInt(annotation.Text, 10, 16)
	switch {
	case err != nil:
		o.fail(annotation.Pos, "", "annotation %s must be a whole number from %d to %d, found %q", p.annotation, lynq.LowestWave, lynq.HighestWave, annotation.Text)
	case at != lynq.Pos{} && int(annotated) != wave:
		o.fail(annotation.Pos, "say it once", "%s is %d on line %d, and annotation %s is %d", o.name(p.field), wave, at.Line, p.annotation, annotated)
	default:
		return int(annotated), annotation.Pos
	}
	return wave, at
}

// checkWaves reports what must be there before an earlier wave can end, and comes in a
// later one: as both wait for each other, neither would ever be written.
func checkWaves(rep *report, subject string, entries []*entry) {
	for _, e := range entries {
		for _, other := range entries {
			if other.Policy.ApplyOrder <= e.Policy.ApplyOrder {
				continue
			}
			path := fmt.Sprintf("%s (wave %d) -> %s (wave %d), which waits for all of wave %d", e.ID, e.Policy.ApplyOrder, other.ID, other.Policy.ApplyOrder, e.Policy.ApplyOrder)
			fix := fmt.Sprintf("raise applyOrder of %s, or lower that of %s", e.ID, other.ID)
			if e.StandsOn(other.Resource) {
				rep.problems.Add(e.Pos, fix, "%s, %s: needs the %s of a later wave: %s", subject, e.label, other.Kind, path)
				continue
			}
			for _, d := range e.depends {
				if d.Text == other.ID {
					rep.problems.Add(d.Pos, fix, "%s, %s: depends on a later wave: %s", subject, e.label, path)
				}
			}
		}
	}
}
