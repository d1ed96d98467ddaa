package engine

import (
	"context"
	"time"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// ApplyHolding is Apply of one hub, which goes on where a guard refuses deletions.
func (e *Engine) ApplyHolding(ctx context.Context, o *ApplyOptions) error {
	return e.withApplyJob(ctx, o, func(ctx context.Context, j *applyJob) error {
		if _, err := j.rendered(ctx); err != nil {
			return err
		}
		locks := j.newLocks(ctx, j.hubKeys())
		err := j.acquire(ctx, locks)
		defer locks.release(ctx)
		if err != nil {
			return err
		}
		if err := j.loadHubs(ctx); err != nil {
			return err
		}
		plans, err := j.planAll(ctx)
		if err != nil {
			return err
		}
		hub := j.hubs[0].Key
		run, held, approved := holdDeletions(plans, j.records[hub], time.Now())
		if err := j.refused(run); err != nil {
			return err
		}
		recorder := j.client.Recorder("test")
		tellHeld(ctx, recorder, j.records[hub], held, approved, time.Now())
		j.held = map[lynq.HubKey]*inventory.HeldDeletions{hub: held}
		err = j.runPlans(locks.ctx, run)
		recorder.Flush(ctx)
		return err
	})
}
