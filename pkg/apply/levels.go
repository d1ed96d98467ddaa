package apply

import (
	"slices"
)

// orderOf is the order of an object that comes after all it depends on. Forms
// have few resources.
func orderOf(o *Object, before []Object) int {
	order := 0
	for i := range before {
		if slices.Contains(o.DependIDs, before[i].ID) {
			order = max(order, before[i].Order+1)
		}
	}
	return order
}
