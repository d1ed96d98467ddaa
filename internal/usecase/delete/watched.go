package delete

import (
	"context"
	"fmt"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// returnPatience limits how long a watch takes to come back to a free Lease. It looks every
// three seconds.
const returnPatience = 15 * time.Second

// watched refuses to delete hubs that a watch has in its inputs, because the watch would
// create everything again. It ignores a Lease that can't be read. The clocks of the watch
// and of this run may differ, so yielded looks again.
func (j *removalJob) watched(ctx context.Context, hubs []*LeavingHub) []plan.Refusal {
	var refusals []plan.Refusal
	for _, h := range hubs {
		if h.Record == nil {
			continue // the hub stays
		}
		if watch, ends := j.watchOf(ctx, h.HubKey); watch != "" {
			refusals = append(refusals, watchedRefusal(h.HubKey, watch, ends))
		}
	}
	return refusals
}

// watchOf returns the watch that has a hub, or "", and how its Lease ends. If a watch
// released the Lease and comes back, watchOf waits for it. It notes a watch that doesn't
// come, because that one died.
func (j *removalJob) watchOf(ctx context.Context, hub lynq.HubKey) (watch, ends string) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for until, told := time.Now().Add(returnPatience), false; ; told = true {
		l, err := j.Client.Leases().Get(ctx, hub.Namespace, wellknown.LeaseName(hub.Name))
		if err != nil {
			return "", ""
		}
		if watch, until := lease.Watched(l, j.Engine.Now()); watch != "" {
			return watch, "expires at " + until.UTC().Format(time.RFC3339)
		}
		by := lease.YieldedBy(l)
		switch {
		case by == "" || j.Ended(by):
			return "", ""
		case lease.Held(l, j.Engine.Now()):
			return lease.NameOf(by), "is free soon"
		case time.Now().After(until):
			j.dead[hub] = by
			return "", ""
		case !told:
			j.Engine.Notef("hub %s: waiting up to %s for %s, which watches it and let another run have it", hub, returnPatience, lease.NameOf(by))
		}
		select {
		case <-ctx.Done():
			return "", ""
		case <-tick.C:
		}
	}
}

// yielded refuses to delete hubs whose watch comes back when this run releases the lock. So
// it has them in its inputs, whatever the clocks say.
func (j *removalJob) yielded(locks *session.Locks, hubs []*LeavingHub) []plan.Refusal {
	var refusals []plan.Refusal
	for _, h := range hubs {
		if by := locks.Yielded(h.HubKey); h.Record != nil && by != "" && by != j.dead[h.HubKey] && !j.Ended(by) {
			refusals = append(refusals, watchedRefusal(h.HubKey, lease.NameOf(by), "is free soon"))
		}
	}
	return refusals
}

// watchedRefusal names the watch of a hub, and says how to end it.
func watchedRefusal(hub lynq.HubKey, watch, ends string) plan.Refusal {
	return plan.Refusal{
		Guard: plan.GuardWatched, Hub: hub,
		What: fmt.Sprintf("lynqctl watch, %s, keeps the hub, and would create everything again", watch),
		Fix: fmt.Sprintf("stop that watch, or remove the hub and its forms from its files; if it died, its Lease %s/%s %s",
			hub.Namespace, wellknown.LeaseName(hub.Name), ends),
	}
}
