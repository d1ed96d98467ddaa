package plan

import "github.com/lynqctl/lynqctl/pkg/inventory"

// SameVersion tells whether a version of lynqctl is known to render what was
// rendered when an object was written last, as long as row and form say the same.
// hub may be nil. An object that is created once is not rendered again.
func SameVersion(version string, r *inventory.Entry, inv *inventory.Inventory, hub *inventory.Hub) bool {
	if version == "" || inv.Version == "" || r.Creation.Once() {
		return false
	}
	return inv.Version == version || hub != nil && hub.Version == version
}
