package plan

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/container"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// OrderOf is the order of an object that comes after all it depends on, and after all
// of earlier waves. Forms have few resources.
func OrderOf(o *Object, before []Object) int {
	order := 0
	for i := range before {
		if before[i].Policy.ApplyOrder < o.Policy.ApplyOrder || slices.Contains(o.DependIDs, before[i].ID) {
			order = max(order, before[i].Order+1)
		}
	}
	return order
}

// GoesBefore tells whether of two objects that leave one goes before the other: by the
// waves of deleteOrder, then what depends on others before those, and what is in a
// container before that.
func GoesBefore(a, b *inventory.Entry) bool {
	if a.DeleteOrder != b.DeleteOrder {
		return a.DeleteOrder < b.DeleteOrder
	}
	return a.Order > b.Order || container.Is(b.Ref) && !container.Is(a.Ref)
}
