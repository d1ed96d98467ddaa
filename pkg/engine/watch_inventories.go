package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// keptInventories are the inventories of a hub as they were listed, or saved, last, so that
// a round about a few nodes does not list all. A save on top of what another client
// changed meanwhile is refused by the server. Nil keeps none. It is safe for concurrent
// use.
type keptInventories struct {
	mu sync.Mutex
	by map[plan.NodeKey]*inventory.Inventory // nil where they are to be listed
}

// or gives what is kept, or else what list gives, and keeps that.
func (k *keptInventories) or(list func() ([]*inventory.Inventory, error)) ([]*inventory.Inventory, error) {
	if k == nil {
		return list()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.by != nil {
		return slices.SortedFunc(maps.Values(k.by), func(a, b *inventory.Inventory) int {
			return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Node, b.Node))
		}), nil
	}
	all, err := list()
	if err == nil {
		k.by = make(map[plan.NodeKey]*inventory.Inventory, len(all))
		for _, inv := range all {
			k.by[plan.NodeKey{Namespace: inv.Namespace, Name: inv.Node}] = inv
		}
	}
	return all, err
}

// forget has them listed again.
func (k *keptInventories) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.by = nil
}

// note notes what became of one: it was saved, or is gone, or, with an error, is not known.
func (k *keptInventories) note(inv *inventory.Inventory, gone bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case err != nil:
		k.by = nil
	case k.by == nil:
	case gone:
		delete(k.by, plan.NodeKey{Namespace: inv.Namespace, Name: inv.Node})
	default:
		k.by[plan.NodeKey{Namespace: inv.Namespace, Name: inv.Node}] = inv
	}
}

// keepingInventories notes what is saved.
type keepingInventories struct {
	apply.Inventories
	kept *keptInventories
}

// Save implements apply.Inventories.
func (s keepingInventories) Save(ctx context.Context, inv *inventory.Inventory) (*inventory.Inventory, error) {
	saved, err := s.Inventories.Save(ctx, inv)
	s.kept.note(saved, false, err)
	return saved, err
}

// Restore implements apply.Inventories.
func (s keepingInventories) Restore(ctx context.Context, inv *inventory.Inventory, detach func() (plan.Permit, error)) (*inventory.Inventory, error) {
	restored, err := s.Inventories.Restore(ctx, inv, detach)
	s.kept.note(restored, false, err)
	return restored, err
}

// Remove implements apply.Inventories.
func (s keepingInventories) Remove(ctx context.Context, inv *inventory.Inventory, permit plan.Permit) error {
	err := s.Inventories.Remove(ctx, inv, permit)
	s.kept.note(inv, true, err)
	return err
}
