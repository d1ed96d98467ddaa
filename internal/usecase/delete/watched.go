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

// watched refuses to delete hubs that a watch has in its inputs, because the watch would
// create everything again. It ignores a Lease that can't be read. The clocks of the watch
// and of this run may differ, so yielded looks again.
func (j *removalJob) watched(ctx context.Context, hubs []*LeavingHub) []plan.Refusal {
	var refusals []plan.Refusal
	for _, h := range hubs {
		if h.Record == nil {
			continue // the hub stays
		}
		l, err := j.Client.Leases().Get(ctx, h.Namespace, wellknown.LeaseName(h.Name))
		if err != nil {
			continue
		}
		if holder, until := lease.Watched(l, j.Engine.Now()); holder != "" {
			refusals = append(refusals, watchedRefusal(h.HubKey, holder, "expires at "+until.UTC().Format(time.RFC3339)))
		}
	}
	return refusals
}

// yielded refuses to delete hubs whose lock a watch released for this run. So it has them in
// its inputs, whatever the clocks say.
func yielded(locks *session.Locks, hubs []*LeavingHub) []plan.Refusal {
	var refusals []plan.Refusal
	for _, h := range hubs {
		if holder := locks.Yielded(h.HubKey); h.Record != nil && holder != "" {
			refusals = append(refusals, watchedRefusal(h.HubKey, holder, "is free soon"))
		}
	}
	return refusals
}

// watchedRefusal names the holder of a hub's Lease, and says how to end it.
func watchedRefusal(hub lynq.HubKey, holder, ends string) plan.Refusal {
	return plan.Refusal{
		Guard: plan.GuardWatched, Hub: hub,
		What: fmt.Sprintf("lynqctl watch, %s, has the hub in its files, and would create everything again", holder),
		Fix: fmt.Sprintf("stop that watch, or remove the hub from its files; if it died, its Lease %s/%s %s",
			hub.Namespace, wellknown.LeaseName(hub.Name), ends),
	}
}
