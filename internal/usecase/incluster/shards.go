package incluster

import (
	"cmp"
	"context"
	"fmt"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/deploy"
	"github.com/lynqctl/lynqctl/pkg/rbac"
)

// ShardOptions say how the shards run in the cluster.
type ShardOptions struct {
	// Apply has the number of shards in its Shard.
	Apply applycmd.Options
	// Job is NAMESPACE/NAME of the Job or CronJob, "" to derive it from the hubs.
	Job   string
	Image string // "" means the image of this release
	// Parallelism limits how many shards run at a time, 0 for all.
	Parallelism int
	// Schedule makes a CronJob of the Job, "" for none.
	Schedule string
	// Args are further arguments of apply.
	Args []string
}

// Shards returns the manifests that run shards in the cluster. It asks the cluster only
// for kinds that the inputs leave open.
func Shards(ctx context.Context, e *session.Engine, o *ShardOptions) (string, error) {
	s := deploy.Shards{Count: o.Apply.Shard.Count, Parallelism: cmp.Or(o.Parallelism, o.Apply.Shard.Count), Schedule: o.Schedule}
	if s.Parallelism < 1 || s.Parallelism > s.Count {
		return "", session.BadUsage(fmt.Errorf("--parallelism must be 1 to %d, the number of shards", s.Count))
	}
	if err := deploy.CheckSchedule(o.Schedule); err != nil {
		return "", session.BadUsage(fmt.Errorf("--schedule: %w", err))
	}
	in := &options{
		Apply: o.Apply, Kind: s.Kind(), Place: o.Job, Suffix: "-shards", Image: o.Image, Args: o.Args, For: rbac.Apply, Optional: true,
	}
	return manifests(ctx, e, in, func(out *deploy.Options) (string, error) {
		s.Options = *out
		return s.Manifests()
	})
}
