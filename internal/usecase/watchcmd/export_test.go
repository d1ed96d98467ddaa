package watchcmd

import (
	"context"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// ApplyHolding applies one hub once, and continues if a guard refuses deletions.
func ApplyHolding(ctx context.Context, e *session.Engine, o *applycmd.Options) error {
	return applycmd.WithJob(ctx, e, o, func(ctx context.Context, j *applycmd.Job) error {
		if _, err := j.Rendered(ctx); err != nil {
			return err
		}
		locks := j.NewLocks(ctx, load.HubKeys(j.Hubs))
		err := j.Acquire(ctx, locks)
		defer locks.Release(ctx)
		if err != nil {
			return err
		}
		if err := j.LoadHubs(ctx); err != nil {
			return err
		}
		plans, err := j.PlanAll(ctx)
		if err != nil {
			return err
		}
		hub := j.Hubs[0].Key
		run, held, approved := holdDeletions(plans, hub, j.Records[hub], time.Now())
		if err := j.Refused(run); err != nil {
			return err
		}
		recorder := j.Client.Recorder("test")
		tellHeld(ctx, recorder, j.Records[hub], held, approved, time.Now())
		j.Held = map[lynq.HubKey]*inventory.HeldDeletions{hub: held}
		err = j.RunPlans(locks.Ctx, run)
		recorder.Flush(ctx)
		return err
	})
}
