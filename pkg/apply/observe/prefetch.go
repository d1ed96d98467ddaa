package observe

import (
	"context"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Prefetch lists objects while lynqctl still reads inventories. The rows already say which
// kinds to list. A nil Prefetch reads nothing.
type Prefetch struct {
	lists   map[[2]string]*prefetched // by group and kind
	stop    context.CancelFunc
	reading *errgroup.Group
}

// prefetched is a list of a kind's objects with the hub's label.
type prefetched struct {
	group, version, kind string
	namespace            string // "" for all namespaces
	spread               bool   // the objects are in several namespaces

	done     chan struct{} // closed when the fields below are set
	resource lynq.APIResource
	objects  []*tracking.Live
	err      error // the error of the list
}

// StartPrefetch begins to list the objects that nodes of a hub need. The caller closes the
// result.
func StartPrefetch(ctx context.Context, c Reader, hub string, nodes []*plan.Node) *Prefetch {
	a := &Prefetch{lists: map[[2]string]*prefetched{}, reading: new(errgroup.Group)}
	var lists []*prefetched
	for _, n := range nodes {
		for i := range n.Objects {
			o := &n.Objects[i]
			if o.Exclusion != nil || o.Policy != nil && o.Policy.PurgeOrder != nil {
				continue // only the inventory says whether the object did its work and was deleted
			}
			l := a.lists[[2]string{o.Group, o.Kind}]
			if l == nil {
				_, version := lynq.SplitAPIVersion(o.APIVersion)
				l = &prefetched{group: o.Group, version: version, kind: o.Kind, namespace: o.Namespace, done: make(chan struct{})}
				a.lists[[2]string{o.Group, o.Kind}] = l
				lists = append(lists, l)
			}
			l.spread = l.spread || l.namespace != o.Namespace
		}
	}
	ctx, a.stop = context.WithCancel(ctx)
	next := make(chan *prefetched, len(lists))
	for _, l := range lists {
		next <- l
	}
	close(next)
	for range min(readsAtOnce, len(lists)) {
		a.reading.Go(func() error {
			for l := range next {
				l.read(ctx, c, hub)
			}
			return nil
		})
	}
	return a
}

// Close stops the reads that still run.
func (a *Prefetch) Close() {
	if a != nil {
		a.stop()
		_ = a.reading.Wait() // each list has its own error
	}
}

// Nodes works like the function Nodes, but doesn't read the same lists again.
func (a *Prefetch) Nodes(ctx context.Context, c Reader, hub string, nodes []*plan.Node, inventories []*inventory.Inventory) (*plan.Observed, error) {
	o := newObserver(c, hub).of(inventories)
	o.ahead = a
	return o.observe(ctx, kindsIn(nodes, inventories))
}

// read reads the list. If the server doesn't serve the kind, read keeps nothing, and the
// observer reports that later.
func (l *prefetched) read(ctx context.Context, c Reader, hub string) {
	defer close(l.done)
	if l.spread {
		l.namespace = ""
	}
	r, err := served(ctx, c, l.group, l.version, l.kind)
	if err != nil {
		return
	}
	l.resource = r
	l.err = c.List(ctx, r, l.namespace, hubSelector(hub), func(m *metav1.PartialObjectMetadata) func() {
		live := tracking.LiveOf(refOf(r, m), m)
		return func() { l.objects = append(l.objects, &live) }
	})
}

// listed returns the list that was read ahead for a kind, or nil. It returns nil if the
// needed objects are in more namespaces than the list.
func (a *Prefetch) listed(ctx context.Context, k *wantedKind, r lynq.APIResource, namespace string) *prefetched {
	if a == nil {
		return nil
	}
	l := a.lists[[2]string{k.group, k.kind}]
	if l == nil {
		return nil
	}
	select {
	case <-l.done:
	case <-ctx.Done():
		return nil
	}
	if l.resource != r || l.namespace != namespace {
		return nil
	}
	return l
}
