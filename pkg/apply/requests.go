package apply

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/schedule"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// requests sends a node's requests to the cluster.
type requests struct {
	cluster Cluster
	// ctx continues for the grace period after an interruption. Writes that failed for many
	// nodes use a shorter one.
	ctx    context.Context
	dryRun bool
	// dependencies knows the kinds that the run creates. It is nil if the run writes nothing.
	dependencies *schedule.Dependencies
}

// cut reports whether an error comes from the end of an interrupted run, and not from the
// cluster.
func (q *requests) cut(err error) bool {
	return q.ctx.Err() != nil && errors.Is(err, context.Canceled)
}

// resourceOf returns how the server serves the kind of a step's object.
func (q *requests) resourceOf(s *Step) (lynq.APIResource, error) {
	ref := s.Ref()
	var apiVersion string
	if s.Object != nil {
		apiVersion = s.Object.APIVersion
	} else {
		apiVersion = s.Entry.APIVersion
	}
	_, version := lynq.SplitAPIVersion(apiVersion)
	r, err := q.cluster.Resource(q.ctx, ref.Group, version, ref.Kind)
	if err != nil && s.Object == nil {
		r, err = q.cluster.Resource(q.ctx, ref.Group, "", ref.Kind)
	}
	if err != nil {
		return r, err
	}
	if unfit := plan.Fits(r, ref); unfit != nil {
		return r, unfit
	}
	return r, nil
}

// served calls try until the server serves a kind that this run created. The server reports
// a new kind as established slightly too early.
func (q *requests) served(ctx context.Context, s *Step, try func() error) error {
	pause := 50 * time.Millisecond
	for {
		err := try()
		made := s.Object != nil && q.dependencies.Makes("kind/"+s.Object.GroupKind())
		if !meta.IsNoMatchError(err) || !made || q.dryRun || pause > 5*time.Second {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
		pause *= 2
		if refreshErr := q.cluster.Refresh(q.ctx); refreshErr != nil {
			return refreshErr
		}
	}
}

// find finds out how the server serves the kind of a step's object, and waits for a new
// kind.
func (q *requests) find(ctx context.Context, s *Step) error {
	return q.served(ctx, s, func() (err error) {
		s.Resource, err = q.resourceOf(s)
		return err
	})
}

// hasten shortens the attempts of writes until the caller calls end.
func (q *requests) hasten() (end func()) {
	before := q.ctx
	q.ctx = write.Hasty(before)
	return func() { q.ctx = before }
}
