package plan

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// OrderOf returns the order of an object after all its dependencies and all objects of
// earlier waves. It compares all pairs, because forms have few resources.
func OrderOf(o *Object, before []Object) int {
	order := 0
	for i := range before {
		if before[i].Policy.ApplyOrder < o.Policy.ApplyOrder || slices.Contains(o.DependIDs, before[i].ID) {
			order = max(order, before[i].Order+1)
		}
	}
	return order
}

// GoesBefore reports whether lynqctl must delete object a before object b. The waves of
// deleteOrder come first. Then dependents come before their dependencies, and contents
// before their container.
func GoesBefore(a, b *inventory.Entry) bool {
	if a.DeleteOrder != b.DeleteOrder {
		return a.DeleteOrder < b.DeleteOrder
	}
	return a.Order > b.Order || tracking.IsContainer(b.Ref) && !tracking.IsContainer(a.Ref)
}
