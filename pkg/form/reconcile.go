package form

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// reconcilePolicy says when an object is written again. The component of its seed is a
// node here.
func reconcilePolicy() twofold {
	return twofold{"reconcilePolicy", lynq.AnnotationReconcilePolicy, map[string]string{"OnObjectOrComponentChange": string(lynq.OnObjectOrNodeChange)}}
}

// readReconcile reads when an object is written again. Once is a creationPolicy too, so
// that a form may say it twice, and contradict itself.
func readReconcile(o *object, r *Resource) {
	policy := twofoldWord(o, r, reconcilePolicy(), lynq.OnObjectChange, lynq.OnObjectOrNodeChange, lynq.ReconcileOnce)
	creation, at := o.value.Field("creationPolicy").literal(), fieldPos(o.value, "creationPolicy")
	once := policy == lynq.ReconcileOnce
	switch {
	case policy == "":
	case creation != "" && once != (creation == string(lynq.CreateOnce)):
		o.fail(at, "say one of them", "%s is %s, and %s on line %d is %s", o.name("creationPolicy"), creation, reconcilePolicy().field, reconcilePolicy().pos(o, r).Line, policy)
	case once:
		r.Policy.Creation = lynq.CreateOnce
	}
	r.Policy.OnNodeChange = policy == lynq.OnObjectOrNodeChange
}

// reapplyInterval is no word, but has two spellings too.
func reapplyInterval() twofold {
	return twofold{field: "reapplyInterval", annotation: lynq.AnnotationReapplyInterval}
}

// shortestReapply keeps runs that follow each other closely from writing all objects.
const shortestReapply = time.Minute

// readReapply reads after which time an object is written again, from the field or the
// annotation. What is created once is never written again.
func readReapply(o *object, r *Resource) {
	p := reapplyInterval()
	field, annotation := o.text(p.field), annotationText(o, r, p.annotation)
	byField := reapplyAfter(o, o.name(p.field), field)
	byAnnotation := reapplyAfter(o, "annotation "+p.annotation, annotation)
	at := field.Pos
	if !field.isSet() {
		at = annotation.Pos
	}
	switch {
	case byField > 0 && byAnnotation > 0 && byField != byAnnotation:
		o.fail(annotation.Pos, "say it once", "%s is %s on line %d, and annotation %s is %s", o.name(p.field), field.Text, at.Line, p.annotation, annotation.Text)
	case max(byField, byAnnotation) > 0 && r.Policy.Creation == lynq.CreateOnce:
		o.fail(at, "remove it", "%s has no meaning: with Once the object is never written again", o.name(p.field))
	}
	r.Policy.ReapplyInterval = max(byField, byAnnotation)
}

// reapplyAfter is the time that a text says, as Kubernetes writes times; 0 for none. One
// that is no such time is reported.
func reapplyAfter(o *object, name string, t Text) time.Duration {
	if !t.isSet() {
		return 0
	}
	after, err := time.ParseDuration(t.Text)
	switch {
	case err != nil:
		o.fail(t.Pos, "write it as 24h, or 30m", "%s must be a time; found %q", name, t.Text)
		return 0
	case after < shortestReapply:
		o.fail(t.Pos, "write 1m or more", "%s must be one minute at least; found %q", name, t.Text)
		return 0
	}
	return after
}
