package applycmd

import (
	"context"
	"sync"

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
func (s *Seen) aheadOf(ctx context.Context, h *load.HubPrograms) *prefetch {
	if begun := s.begun; begun != nil && h.Key == s.Hubs[0].Key {
		s.begun = nil
		return begun
	}
	return s.prefetch(ctx, h, s.Concern == nil)
}

// prefetch begins to list the objects of a hub, if the run plans all nodes.
func (r *Rendered) prefetch(ctx context.Context, h *load.HubPrograms, all bool) *prefetch {
	var objects *observe.Prefetch
	if all && r.Options.Shard.IsZero() {
		objects = observe.StartPrefetch(ctx, r.Client, h.Hub.Name, r.Nodes[h.Key])
	}
	store := r.Store
	return &prefetch{objects, func(ctx context.Context) ([]*inventory.Inventory, error) { return store.Nodes(ctx, h.Key) }, objects.Close}
}

// beginLook begins the look at the first hub while the run takes the Leases. Nobody writes
// to the hub meanwhile, or the Lease shows it. The caller closes the result, perhaps twice.
func (r *Rendered) beginLook(ctx context.Context) *prefetch {
	ctx, stop := context.WithCancel(ctx)
	a := r.prefetch(ctx, &r.Hubs[0], true)
	var inventories []*inventory.Inventory
	var err error
	listed := make(chan struct{})
	go func() {
		defer close(listed)
		inventories, err = a.nodes(ctx)
	}()
	return &prefetch{
		objects: a.objects,
		nodes: func(ctx context.Context) ([]*inventory.Inventory, error) {
			select {
			case <-listed:
				return inventories, err
			case <-ctx.Done(): // the run lost its Lease
				return nil, context.Cause(ctx)
			}
		},
		close: sync.OnceFunc(func() {
			stop()
			a.close()
			<-listed
		}),
	}
}
