package apply

import (
	"context"
	"errors"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// release removes the marks of a node from objects that lynqctl keeps.
type release struct {
	requests  *requests
	decisions *decisions
	record    *record
}

// orphan marks a retained object as an orphan, and releases it.
func (r *release) orphan(s *Step, now time.Time) move {
	p, reason := r.record.plan, wellknown.ReasonRemovedFromTemplate
	if p.Desired == nil && !p.Moves() {
		reason = wellknown.ReasonNodeDeleted
	}
	annotations := map[string]string{
		wellknown.AnnotationOrphanedAt:     now.UTC().Format(time.RFC3339),
		wellknown.AnnotationOrphanedReason: reason,
		wellknown.AnnotationOrphanedFrom:   strings.Join([]string{p.Hub.Name, p.Namespace, p.Name, s.Entry.ID}, "/"),
	}
	if s.Entry.Data {
		annotations[wellknown.AnnotationHoldsData] = "true" // prune has no form to read it from
	}
	return r.untrack(s, fields.MetadataChange{SetLabels: map[string]string{wellknown.LabelOrphaned: "true"}, SetAnnotations: annotations})
}

// forget drops the entry of an object. If another owner took the object over, forget also
// removes our tracking. Otherwise the garbage collector would delete the object with the
// inventory.
func (r *release) forget(ctx context.Context, s *Step) move {
	if me := r.record.owner(); s.Live == nil || s.To != nil || !me.Tracks(s.Live) && !me.Owns(s.Live) {
		s.Record = nil
		return endsAs(report.OutcomeDone, s.Message)
	}
	err := r.requests.find(ctx, s)
	switch {
	case err != nil:
		return fails(err)
	case s.Live.Record: // the inventory lists a record as an object
		return r.untracked(s, (*write.Object).Disown)
	}
	return r.untrack(s, fields.MetadataChange{RemoveAnnotations: write.TrackingAnnotations()})
}

// untrack removes the node's tracking from an object, together with another change.
func (r *release) untrack(s *Step, c fields.MetadataChange) move {
	c.RemoveLabels = append(c.RemoveLabels, write.TrackingLabels()...)
	return r.untracked(s, func(o *write.Object) error { return o.Untrack(c) })
}

// untracked removes tracking with attempt, and then drops the entry.
func (r *release) untracked(s *Step, attempt func(*write.Object) error) move {
	err := r.try(s, attempt)
	switch {
	case errors.Is(err, write.ErrTurned):
		return move{kind: moveAgain}
	case err == nil || apierrors.IsNotFound(err):
		s.Record = nil
		return endsAs(report.OutcomeDone, s.Message)
	}
	return fails(err)
}

// unmanaged removes the tracking from an object that a user marked as unmanaged. The
// inventory lists the object already.
func (r *release) unmanaged(s *Step) move {
	if s.Object != nil {
		s.Record = new(s.NextEntry())
		s.Record.UID = string(s.Live.UID)
	}
	if err := r.try(s, (*write.Object).DisownUnmanaged); err != nil {
		return fails(err)
	}
	return endsAs(report.OutcomeDone, s.Message)
}

// try repeats a change while others change the object.
func (r *release) try(s *Step, attempt func(*write.Object) error) error {
	for try := 0; ; try++ {
		o := r.decisions.object(s)
		err := attempt(o)
		took(s, o)
		if err == nil || write.ProblemOf(err).Kind != write.ProblemMoved || try == write.MaxTries {
			return err
		}
	}
}
