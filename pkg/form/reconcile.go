package form

import (
	"fmt"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// checkReconcile reports a creationPolicy that contradicts reconcilePolicy, because both
// may say that lynqctl writes an object once.
func checkReconcile(o *object, r *Resource, creation, reconcile saying) {
	if creation.value == "" || reconcile.value == "" {
		return
	}
	if once := reconcile.value == string(lynq.ReconcileOnce); once != lynq.CreationPolicy(creation.value).Once() {
		creation.fail(o, r, "set one of them", "%s is %s, and reconcilePolicy %s is %s", o.name("creationPolicy"), creation.value, placeFrom(creation.pos, reconcile.pos), reconcile.value)
	}
}

// placeFrom names a place for a message at another one.
func placeFrom(here, there lynq.Pos) string {
	if here.File == there.File {
		return fmt.Sprintf("on line %d", there.Line)
	}
	return "at " + there.String()
}

// shortestReapply prevents frequent runs from writing all objects each time.
const shortestReapply = time.Minute

// reapplyAfter parses a Kubernetes duration, or returns 0. It reports an invalid duration.
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
