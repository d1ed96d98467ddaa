package orphans

import (
	"context"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// AdoptOptions say which orphans Adopt adopts.
type AdoptOptions struct {
	Apply applycmd.Options
	Named map[lynq.Ref]bool // empty means all
	// Sync also updates the content of the orphans to the form's.
	Sync bool
}

// Adopt adopts the orphans that rows and forms render again. It returns a *session.Error if
// it couldn't adopt a named one.
func Adopt(ctx context.Context, e *session.Engine, o *AdoptOptions) error {
	return applycmd.WithJob(ctx, e, &o.Apply, func(ctx context.Context, j *applycmd.Job) error {
		found, err := j.FindOrphans(ctx, orphan.Query{Now: time.Now(), Namespace: session.NamespaceOf(o.Named), Within: j.Client.Namespaces()})
		if err != nil {
			return err
		}
		j.Adopting = &applycmd.Adopting{Named: o.Named, Sync: o.Sync, Found: *found}
		return j.Perform(ctx)
	})
}
