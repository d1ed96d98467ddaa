package session

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// KeptInventories keeps the inventories of a hub from the last list or save. So a round
// about a few nodes needs no list. If another client changed an inventory meanwhile, the
// server refuses the save. Nil keeps none. It is safe for concurrent use.
type KeptInventories struct {
	mu sync.Mutex
	by map[lynq.NodeKey]*inventory.Inventory // nil means that the next read must list
}

// or returns the kept inventories. If it has none, it calls list and keeps the result.
func (k *KeptInventories) or(list func() ([]*inventory.Inventory, error)) ([]*inventory.Inventory, error) {
	if k == nil {
		return list()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.by != nil {
		return slices.SortedFunc(maps.Values(k.by), func(a, b *inventory.Inventory) int {
			return cmp.Or(cmp.Compare(a.Node.Namespace, b.Node.Namespace), cmp.Compare(a.Node.Name, b.Node.Name))
		}), nil
	}
	all, err := list()
	if err == nil {
		k.by = make(map[lynq.NodeKey]*inventory.Inventory, len(all))
		for _, inv := range all {
			k.by[inv.Node.Key()] = inv
		}
	}
	return all, err
}

// Forget makes the next read list again.
func (k *KeptInventories) Forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.by = nil
}

// note notes that an inventory was saved or removed. After an error, its state is unknown.
func (k *KeptInventories) note(inv *inventory.Inventory, gone bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case err != nil:
		k.by = nil
	case k.by == nil:
	case gone:
		delete(k.by, inv.Node.Key())
	default:
		k.by[inv.Node.Key()] = inv
	}
}

// keepingInventories passes every saved inventory to KeptInventories.
type keepingInventories struct {
	apply.Inventories
	kept *KeptInventories
}

// Save implements apply.Inventories.
func (s keepingInventories) Save(ctx context.Context, inv *inventory.Inventory) (*inventory.Inventory, error) {
	saved, err := s.Inventories.Save(ctx, inv)
	s.kept.note(saved, false, err)
	return saved, err
}

// Check implements apply.Inventories.
func (s keepingInventories) Check(ctx context.Context, inv *inventory.Inventory) error {
	err := s.Inventories.Check(ctx, inv)
	if err != nil {
		s.kept.note(inv, false, err)
	}
	return err
}

// Restore implements apply.Inventories.
func (s keepingInventories) Restore(ctx context.Context, inv *inventory.Inventory, detach func() (decide.Permit, error)) (*inventory.Inventory, error) {
	restored, err := s.Inventories.Restore(ctx, inv, detach)
	s.kept.note(restored, false, err)
	return restored, err
}

// Remove implements apply.Inventories.
func (s keepingInventories) Remove(ctx context.Context, inv *inventory.Inventory, permit decide.Permit) error {
	err := s.Inventories.Remove(ctx, inv, permit)
	s.kept.note(inv, true, err)
	return err
}
