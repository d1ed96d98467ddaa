package delete

import (
	"context"
	"fmt"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// watched refuses to delete hubs that a watch has in its inputs, because the watch would
// create everything again. It ignores a Lease that can't be read.
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
		if holder, until := lease.Watched(l, time.Now()); holder != "" {
			refusals = append(refusals, watchedRefusal(h.HubKey, holder, until))
		}
	}
	return refusals
}

// watchedRefusal names the holder of a hub's Lease, and says how to end it.
func watchedRefusal(hub lynq.HubKey, holder string, until time.Time) plan.Refusal {
	return plan.Refusal{
		Guard: plan.GuardWatched, Hub: hub,
		What: fmt.Sprintf("lynqctl watch, %s, has the hub in its files, and would create everything again", holder),
		Fix: fmt.Sprintf("stop that watch, or remove the hub from its files; if it died, its Lease %s/%s expires at %s",
			hub.Namespace, wellknown.LeaseName(hub.Name), until.UTC().Format(time.RFC3339)),
	}
}
