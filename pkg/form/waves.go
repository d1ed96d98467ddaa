package form

import (
	"fmt"
	"strconv"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func applyOrder() twofold {
	return twofold{field: "applyOrder", annotation: lynq.AnnotationApplyOrder}
}

func deleteOrder() twofold {
	return twofold{field: "deleteOrder", annotation: lynq.AnnotationDeleteOrder}
}

func purgeOrder() twofold {
	return twofold{field: "purgeOrder", annotation: lynq.AnnotationPurgeOrder}
}

// wavePolicies are those that name a wave.
func wavePolicies() []twofold { return []twofold{applyOrder(), deleteOrder(), purgeOrder()} }

// readWaves reads the policies that name a wave. The manifest has been read.
func readWaves(o *object, r *Resource) {
	r.Policy.ApplyOrder, _ = twofoldWave(o, r, applyOrder())
	r.Policy.DeleteOrder, _ = twofoldWave(o, r, deleteOrder())
	if wave, at := twofoldWave(o, r, purgeOrder()); at.File != "" {
		r.Policy.PurgeOrder = &wave
		checkPurge(o, r, at)
	}
}

// checkPurge looks for what an object cannot have that is deleted when its work is done.
func checkPurge(o *object, r *Resource, at lynq.Pos) {
	switch p := &r.Policy; {
	case *p.PurgeOrder < p.ApplyOrder:
		o.fail(at, "raise it", "%s is %d, before its own wave %d (applyOrder)", o.name("purgeOrder"), *p.PurgeOrder, p.ApplyOrder)
	case p.Deletion != lynq.DeleteDelete:
		o.fail(at, "remove one of them", "%s deletes it, and deletionPolicy %s keeps it", o.name("purgeOrder"), p.Deletion)
	case !p.WaitForReady:
		o.fail(at, "remove one of them", "%s deletes it when it is ready, and waitForReady: false does not wait for that", o.name("purgeOrder"))
	case r.IsNamespace(), r.IsDefinition():
		o.fail(at, "remove it", "%s of a %s would delete all that is in it", o.name("purgeOrder"), r.Kind)
	}
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
// later one: as both wait for each other, neither would ever be written. And what goes
// in a later wave than that which would take it along.
func checkWaves(rep *report, subject string, entries []*entry) {
	for _, e := range entries {
		for _, other := range entries {
			if e.Policy.DeleteOrder > other.Policy.DeleteOrder && e.StandsOn(other.Resource) {
				rep.problems.Add(e.Pos, fmt.Sprintf("raise deleteOrder of %s, or lower that of %s", other.ID, e.ID),
					"%s, %s: is deleted in a later wave than its %s, which takes it along: %s (deleteOrder %d), then %s (deleteOrder %d)",
					subject, e.label, other.Kind, other.ID, other.Policy.DeleteOrder, e.ID, e.Policy.DeleteOrder)
			}
			if e.Policy.ApplyOrder < other.Policy.ApplyOrder {
				checkApplyOrder(rep, subject, e, other)
			}
		}
	}
}

// checkApplyOrder reports what a resource needs of one of a later wave.
func checkApplyOrder(rep *report, subject string, e, later *entry) {
	path := fmt.Sprintf("%s (wave %d) -> %s (wave %d), which waits for all of wave %d", e.ID, e.Policy.ApplyOrder, later.ID, later.Policy.ApplyOrder, e.Policy.ApplyOrder)
	fix := fmt.Sprintf("raise applyOrder of %s, or lower that of %s", e.ID, later.ID)
	if e.StandsOn(later.Resource) {
		rep.problems.Add(e.Pos, fix, "%s, %s: needs the %s of a later wave: %s", subject, e.label, later.Kind, path)
		return
	}
	for _, d := range e.depends {
		if d.Text == later.ID {
			rep.problems.Add(d.Pos, fix, "%s, %s: depends on a later wave: %s", subject, e.label, path)
		}
	}
}
