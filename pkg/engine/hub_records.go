package engine

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// hubRecords reads the records of hubs for a use case that looks at the nodes of one
// namespace, or of all. Nothing is read twice.
type hubRecords struct {
	store     *store.Store
	namespace string // "" for all
	list      *hubList
	loaded    map[lynq.HubKey]loadedHub
}

// hubList is what there is in the namespace.
type hubList struct {
	hubs   []*inventory.Hub
	broken []*inventory.UnreadableError
}

// loadedHub is the record of a hub in another namespace; nil where there is none.
type loadedHub struct {
	*inventory.Hub
	err error
}

func newHubRecords(store *store.Store, namespace string) *hubRecords {
	return &hubRecords{store: store, namespace: namespace, loaded: map[lynq.HubKey]loadedHub{}}
}

// listed are the records in the namespace that is looked at.
func (r *hubRecords) listed(ctx context.Context) (*hubList, error) {
	if r.list != nil {
		return r.list, nil
	}
	hubs, err := r.store.Hubs(ctx, r.namespace)
	broken, err := brokenOnes(err)
	if err != nil {
		return nil, err
	}
	r.list = &hubList{hubs, broken}
	return r.list, nil
}

// load reads the record of a hub that is elsewhere.
func (r *hubRecords) load(ctx context.Context, key lynq.HubKey) (*inventory.Hub, error) {
	l, known := r.loaded[key]
	if !known {
		l.Hub, l.err = r.store.LoadHub(ctx, key.Namespace, key.Name)
		r.loaded[key] = l
	}
	return l.Hub, l.err
}

// counting tells which inventories count. They have to be read before: a run
// records where nodes are going to be before it makes them. What a hub's record
// says is asked only where inventories are not in its own namespace, and nothing is
// doubted where it cannot be read.
func (r *hubRecords) counting(ctx context.Context, inventories []*inventory.Inventory, broken []*inventory.UnreadableError) (plan.Counting, error) {
	away := plan.Away(inventories, broken)
	nameless := slices.ContainsFunc(broken, func(b *inventory.UnreadableError) bool { return b.Hub == "" })
	if len(away) == 0 && (!nameless || r.namespace != "") {
		return nil, nil
	}
	if r.namespace == "" {
		list, err := r.listed(ctx)
		if apierrors.IsForbidden(err) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		return plan.NewCounting(list.hubs, inventories), nil
	}
	for _, key := range away {
		_, err := r.load(ctx, key)
		if torn := (*inventory.UnreadableError)(nil); err != nil && !apierrors.IsForbidden(err) && !errors.As(err, &torn) {
			return nil, err
		}
	}
	return plan.NewCounting(r.elsewhere(), inventories), nil
}

// elsewhere are the records that were read of hubs in other namespaces.
func (r *hubRecords) elsewhere() []*inventory.Hub {
	var hubs []*inventory.Hub
	for _, l := range r.loaded {
		if l.err == nil && l.Hub != nil && !l.Overwritten {
			hubs = append(hubs, l.Hub)
		}
	}
	return hubs
}
