package observe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// apartLists is the largest number of namespaces that Copies lists one by one.
const apartLists = 20

// Copies finds the objects that refer to a leaving inventory and lack the hub's label. A
// person who copies an object may leave its labels out, and the garbage collector needs
// only the owner reference. Copies costs one paged list of metadata per kind and namespace,
// or per kind for many namespaces. If a list fails, the objects in these inventories are unknown,
// so lynqctl keeps the inventory.
func Copies(ctx context.Context, c Reader, hub string, leaving []plan.LeavingInventory) (*plan.Observed, error) {
	kinds := wantedKinds{index: map[[2]string]int{}}
	var inventories []*inventory.Inventory
	for i := range leaving {
		inventories = append(inventories, leaving[i].Inventory)
		for j := range leaving[i].Entries {
			kinds.add(leaving[i].Entries[j].Ref, leaving[i].Entries[j].APIVersion)
		}
	}
	o := newObserver(c, hub).of(inventories)
	err := inParallel(len(kinds.kinds), func(i int) error { return o.bareCopies(ctx, &kinds.kinds[i]) })
	if err != nil {
		return nil, err
	}
	return &o.seen, nil
}

// bareCopies finds copies of one kind. A kind that the server doesn't serve has none: its
// recorded objects are unknown, or nothing defines it.
func (o *observer) bareCopies(ctx context.Context, k *wantedKind) error {
	r, err := served(ctx, o.cluster, k.group, k.version, k.kind)
	var unavailable *lynq.GroupUnavailableError
	switch {
	case meta.IsNoMatchError(err):
		return nil
	case errors.As(err, &unavailable):
		o.unknown(k.refs, err)
		return nil
	case err != nil:
		return err
	case !r.Namespaced:
		return nil // an inventory owns objects in its namespace
	}
	of := byNamespace(k.refs)
	if len(of) > apartLists {
		if err = o.bare(ctx, r, ""); err == nil {
			return nil
		}
		if !apierrors.IsForbidden(err) {
			return o.unread(ctx, k.refs, err)
		}
	}
	namespaces := slices.Sorted(maps.Keys(of))
	return inParallel(len(namespaces), func(i int) error {
		if err := o.bare(ctx, r, namespaces[i]); err != nil {
			return o.unread(ctx, of[namespaces[i]], err)
		}
		return nil
	})
}

// bare lists objects without the hub's label, and keeps unlisted ones. Only lynqctl writes
// records.
func (o *observer) bare(ctx context.Context, r lynq.APIResource, namespace string) error {
	err := o.list(ctx, r, namespace, wellknown.LabelHub+"!="+o.hub+",!"+wellknown.LabelRecord, func(lynq.Ref) bool { return false })
	if err != nil {
		return fmt.Errorf("list copies of objects that belong to the inventory: %w", err)
	}
	return nil
}
