package watchcmd

import (
	"context"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// ApplyHolding applies one hub once, and continues if a guard refuses deletions.
func ApplyHolding(ctx context.Context, e *session.Engine, o *applycmd.Options) error {
	return applycmd.WithJob(ctx, e, o, func(ctx context.Context, j *applycmd.Job) error {
		rows, err := j.Render(ctx)
		if err != nil {
			return err
		}
		locks := j.NewLocks(ctx, load.HubKeys(j.Hubs))
		err = j.Acquire(ctx, locks)
		defer locks.Release(ctx)
		if err != nil {
			return err
		}
		seen, err := rows.LoadHubs(ctx)
		if err != nil {
			return err
		}
		p, err := seen.PlanAll(ctx)
		if err != nil {
			return err
		}
		hub := j.Hubs[0].Key
		run, held, approved := holdDeletions(p.Plans, hub, p.Records[hub], time.Now())
		if err := j.Refused(run); err != nil {
			return err
		}
		recorder := j.Client.Recorder("test")
		tellHeld(ctx, recorder, p.Records[hub], held, approved, time.Now())
		err = p.RunPlans(locks.Ctx, run, map[lynq.HubKey]applycmd.Waiting{hub: {Held: held}})
		recorder.Flush(ctx)
		return err
	})
}
