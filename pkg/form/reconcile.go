package form

import "github.com/lynqctl/lynqctl/pkg/lynq"

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
