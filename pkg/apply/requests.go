package apply

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/progress"
	"github.com/lynqctl/lynqctl/pkg/apply/schedule"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// requests are how a node asks the cluster.
type requests struct {
	cluster Cluster
	// ctx outlasts an interruption by the grace. For a write that many nodes have failed it
	// has less patience.
	ctx    context.Context
	dryRun bool
	// promises say which kinds the run makes; nil where nothing is written.
	promises *schedule.Promises
}

// resourceOf is how the kind of a step's object is served.
func (q *requests) resourceOf(s *progress.Step) (lynq.APIResource, error) {
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

// served tries what needs a kind that this run made. A server says that a new
// kind is established a moment before it serves it.
func (q *requests) served(ctx context.Context, s *progress.Step, try func() error) error {
	pause := 50 * time.Millisecond
	for {
		err := try()
		made := s.Object != nil && q.promises.Makes("kind/"+s.Object.GroupKind())
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

// find finds how the kind of a step's object is served, and waits for a kind that is new.
func (q *requests) find(ctx context.Context, s *progress.Step) error {
	return q.served(ctx, s, func() (err error) {
		s.Resource, err = q.resourceOf(s)
		return err
	})
}

// hasten has writes tried less long, until the function that it gives is called.
func (q *requests) hasten() (end func()) {
	before := q.ctx
	q.ctx = write.Hasty(before)
	return func() { q.ctx = before }
}
