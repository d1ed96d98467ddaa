package plan

import (
	"slices"
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
