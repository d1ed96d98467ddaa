package form

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// checkReconcile finds a creationPolicy that a reconcilePolicy contradicts: both can say
// that an object is written once.
func checkReconcile(o *object, creation, reconcile saying) {
	if creation.value == "" || reconcile.value == "" {
		return
	}
	if once := reconcile.value == string(lynq.ReconcileOnce); once != lynq.CreationPolicy(creation.value).Once() {
		o.fail(creation.pos, "set one of them", "%s is %s, and reconcilePolicy on line %d is %s", o.name("creationPolicy"), creation.value, reconcile.pos.Line, reconcile.value)
	}
}

// shortestReapply keeps runs that follow each other closely from writing all objects.
const shortestReapply = time.Minute

// reapplyAfter is the time that a text says, as Kubernetes writes times; 0 for none. One
// that is no such time is reported.
func reapplyAfter(o *object, name string, t Text) time.Duration {
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
