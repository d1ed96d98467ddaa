package form

import (
	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// shortestTTL is the time for a run to see that a Job completed, in seconds. A watch that
// broke off has begun again by then.
const shortestTTL = 60

// checkTTL warns about a Job that Kubernetes may delete before a run sees its end. The next
// run would create it again.
func checkTTL(o *object, r *Resource) {
	ttl := r.Manifest.Field("spec").Field("ttlSecondsAfterFinished")
	if group, _ := lynq.SplitAPIVersion(r.APIVersion); group != "batch" || r.Kind != "Job" || r.Policy.Hook() || ttl == nil || ttl.Kind == document.Null {
		return
	}
	switch {
	case r.Policy.Unwaited:
		o.warn(ttl.Pos, "remove it, or waitForReady: false", "with waitForReady: false, no run sees the Job's end; after spec.ttlSecondsAfterFinished, the next run creates it again")
	case ttl.Kind == document.Int && ttl.Int < shortestTTL:
		o.warn(ttl.Pos, "set 60 or more", "after spec.ttlSecondsAfterFinished: %d, a run may miss the Job's end; then the next run creates it again", ttl.Int)
	}
}
