package statuscmd

import (
	"context"
	"maps"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// nodesNow reads the objects of the chosen nodes, and returns warnings about what it
// couldn't read.
func nodesNow(ctx context.Context, client *kube.Client, records *session.Inventories) (*status.Now, []string, error) {
	c := session.NewComparison("shown as recorded")
	now := &status.Now{Ready: map[lynq.Ref]ready.Readiness{}}
	err := c.Compare(ctx, records, func(hub string, inventories []*inventory.Inventory) (*plan.Observed, error) {
		sight, err := observe.Readiness(ctx, client, hub, inventories)
		if err != nil {
			return nil, err
		}
		maps.Copy(now.Ready, sight.Ready)
		return &sight.Observed, nil
	})
	if err != nil {
		return nil, nil, err
	}
	now.Findings, now.Unseen = status.FindingsOf(status.Find(&c.Comparison)), c.Unseen
	now.Busy = busyHubs(ctx, client, now, records.Chosen)
	return now, c.Warnings, nil
}

// explain adds the reasons why objects aren't ready, for a limited number of objects.
func explain(ctx context.Context, client *kube.Client, now *status.Now, inventories []*inventory.Inventory) {
	reader := session.NewCauses(client)
	now.Causes = map[lynq.Ref]string{}
	for _, inv := range inventories {
		for _, t := range now.Troubles(inv) {
			if r := now.Ready[t.Ref]; r.State == ready.StateWaiting || r.State == ready.StateFailed {
				now.Causes[t.Ref] = reader.Cause(ctx, t.Ref)
			}
		}
	}
}

// busyHubs returns the hubs on which a run is working. It asks only for hubs with a
// problem, because a run may be about to fix that, or may have caused it. It ignores a
// Lease that can't be read.
func busyHubs(ctx context.Context, client *kube.Client, now *status.Now, inventories []*inventory.Inventory) map[lynq.HubKey]bool {
	busy := map[lynq.HubKey]bool{}
	for _, inv := range inventories {
		hub := inv.Node.Full().Hub
		if _, asked := busy[hub]; asked || len(now.Troubles(inv)) == 0 {
			continue
		}
		l, err := client.Leases().Get(ctx, hub.Namespace, wellknown.LeaseName(hub.Name))
		busy[hub] = err == nil && lease.Held(l, time.Now())
	}
	return busy
}
