package plan

import "github.com/lynqctl/lynqctl/pkg/inventory"

// SameVersion reports whether this version of lynqctl rendered the object's last write.
// Then equal rows and forms render the same again. hub may be nil. An object that is
// created once is never rendered again.
func SameVersion(version string, r *inventory.Entry, inv *inventory.Inventory, hub *inventory.Hub) bool {
	if version == "" || inv.Version == "" || r.Creation.Once() {
		return false
	}
	return inv.Version == version || hub != nil && hub.Version == version
}
