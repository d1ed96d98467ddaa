package applycmd

import (
	"context"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// prefetch lists the objects of a hub while lynqctl reads its inventories.
type prefetch struct {
	objects *observe.Prefetch // nil if the run looks at some nodes only
	nodes   func(context.Context) ([]*inventory.Inventory, error)
	close   func()
}

// aheadOf begins to list the objects of a hub, unless beginLook began it. The caller closes
// the result.
func (j *Job) aheadOf(ctx context.Context, h *load.HubPrograms) *prefetch {
	if begun := j.begun; begun != nil && h.Key == j.Hubs[0].Key {
		j.begun = nil
		return begun
	}
	var objects *observe.Prefetch
	if j.Concern == nil && j.Options.Shard.IsZero() {
		objects = observe.StartPrefetch(ctx, j.Client, h.Hub.Name, j.Nodes[h.Key])
	}
	store := j.Store
	return &prefetch{objects, func(ctx context.Context) ([]*inventory.Inventory, error) { return store.Nodes(ctx, h.Key) }, objects.Close}
}

// beginLook begins the look at the first hub while the run takes the Leases. Nobody writes
// to the hub meanwhile, or the Lease shows it. The returned function drops what was read.
func (j *Job) beginLook(ctx context.Context) (drop func()) {
	ctx, stop := context.WithCancel(ctx)
	a := j.aheadOf(ctx, &j.Hubs[0])
	var inventories []*inventory.Inventory
	var err error
	listed := make(chan struct{})
	go func() {
		defer close(listed)
		inventories, err = a.nodes(ctx)
	}()
	j.begun = &prefetch{
		objects: a.objects,
		nodes: func(ctx context.Context) ([]*inventory.Inventory, error) {
			select {
			case <-listed:
				return inventories, err
			case <-ctx.Done(): // the run lost its Lease
				return nil, context.Cause(ctx)
			}
		},
		close: func() {
			stop()
			a.close()
			<-listed
		},
	}
	return func() {
		if j.begun != nil {
			j.begun.close()
			j.begun = nil
		}
	}
}
