package orphans

import (
	"context"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/apply"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// AdoptOptions say which orphans are adopted.
type AdoptOptions struct {
	Apply apply.Options
	Named map[lynq.Ref]bool // empty for all
	// Sync: their content becomes what the form says, too.
	Sync bool
}

// Adopt adopts orphans that rows and forms render.
func Adopt(ctx context.Context, e *session.Engine, o *AdoptOptions) error {
	return apply.WithJob(ctx, e, &o.Apply, func(ctx context.Context, j *apply.Job) error {
		orphans, err := j.FindOrphans(ctx, orphan.Query{Now: time.Now(), Namespace: session.NamespaceOf(o.Named)})
		if err != nil {
			return err
		}
		j.Adopting = &apply.Adopting{Named: o.Named, Sync: o.Sync, Orphans: orphans}
		return j.Perform(ctx)
	})
}
