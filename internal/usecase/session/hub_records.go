package session

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// HubRecords reads hub records for a use case that reads the nodes of one namespace, or of
// all. It reads nothing twice.
type HubRecords struct {
	Store     *store.Store
	namespace string // "" means all
	list      *HubList
	loaded    map[lynq.HubKey]loadedHub
}

// HubList holds the hub records in the namespace.
type HubList struct {
	Hubs   []*inventory.Hub
	Broken []*inventory.UnreadableError
}

// loadedHub is the hub record in another namespace, nil if there is none.
type loadedHub struct {
	*inventory.Hub
	err error
}

// NewHubRecords returns HubRecords that read from a store.
func NewHubRecords(store *store.Store, namespace string) *HubRecords {
	return &HubRecords{Store: store, namespace: namespace, loaded: map[lynq.HubKey]loadedHub{}}
}

// Listed returns the hub records in the chosen namespace.
func (r *HubRecords) Listed(ctx context.Context) (*HubList, error) {
	if r.list != nil {
		return r.list, nil
	}
	hubs, err := r.Store.Hubs(ctx, r.namespace)
	broken, err := BrokenOnes(err)
	if err != nil {
		return nil, err
	}
	r.list = &HubList{hubs, broken}
	return r.list, nil
}

// Load reads the hub record in any namespace.
func (r *HubRecords) Load(ctx context.Context, key lynq.HubKey) (*inventory.Hub, error) {
	l, known := r.loaded[key]
	if !known {
		l.Hub, l.err = r.Store.LoadHub(ctx, key.Namespace, key.Name)
		r.loaded[key] = l
	}
	return l.Hub, l.err
}

// Counting says which inventories count. The caller must read them first, because a run
// records the namespaces of nodes before it creates them. Counting asks hub records only
// for inventories outside of their hub's namespace. If a hub record can't be read, all
// inventories of its hub count.
func (r *HubRecords) Counting(ctx context.Context, inventories []*inventory.Inventory, broken []*inventory.UnreadableError) (inventory.Counting, error) {
	away := inventory.Away(inventories, broken)
	nameless := slices.ContainsFunc(broken, func(b *inventory.UnreadableError) bool { return b.Node.Hub.Name == "" })
	if len(away) == 0 && (!nameless || r.namespace != "") {
		return nil, nil
	}
	if r.namespace == "" {
		list, err := r.Listed(ctx)
		if apierrors.IsForbidden(err) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		return inventory.NewCounting(list.Hubs), nil
	}
	for _, key := range away {
		_, err := r.Load(ctx, key)
		if torn := (*inventory.UnreadableError)(nil); err != nil && !apierrors.IsForbidden(err) && !errors.As(err, &torn) {
			return nil, err
		}
	}
	return inventory.NewCounting(r.elsewhere()), nil
}

// elsewhere returns the hub records that were read from other namespaces.
func (r *HubRecords) elsewhere() []*inventory.Hub {
	var hubs []*inventory.Hub
	for _, l := range r.loaded {
		if l.err == nil && l.Hub != nil {
			hubs = append(hubs, l.Hub)
		}
	}
	return hubs
}

// BrokenOnes returns the unreadable records if err contains nothing else. Otherwise it
// returns err.
func BrokenOnes(err error) ([]*inventory.UnreadableError, error) {
	var broken *inventory.BrokenError
	if errors.As(err, &broken) {
		return broken.Inventories, nil
	}
	return nil, err
}
