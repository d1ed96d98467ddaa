package plan

import (
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Loss names the defect of an inventory that lynqctl repairs. Scripts may compare the words.
type Loss string

// The losses.
const (
	// LossDeleted means that somebody deleted the inventory, and our finalizer blocks that.
	// It also means that a run was killed while it restored the inventory, and left the
	// copy.
	LossDeleted Loss = "Deleted"
	// LossGone means that the inventory doesn't exist, and lynqctl makes it from live
	// objects.
	LossGone Loss = "Gone"
	// LossEntries means that the inventory lacks entries, and lynqctl makes them from live
	// objects.
	LossEntries Loss = "Entries"
	// LossOwner means that objects of the inventory lack their owner reference to it.
	LossOwner Loss = "OwnerReferences"
)

// LossOf returns the defect that an inventory itself shows, or "".
func LossOf(inv *inventory.Inventory) Loss {
	switch {
	case inv.Deleting || inv.UID == "" && inv.Copy != "":
		return LossDeleted
	case inv.UID == "":
		return LossGone
	}
	return ""
}

// Restoration is one inventory as it was before a loss, and what it takes to get there.
type Restoration struct {
	*inventory.Inventory
	Loss Loss
	// Added counts the entries that come from live objects, and not from a record.
	Added int
	// Others are other hubs with the same name that might own the node.
	Others []lynq.HubKey
	// Objects must have an owner reference to the inventory afterwards.
	Objects []Belonging
	// Replacement describes the deletion of the old inventory. It is nil if lynqctl keeps
	// the ConfigMap.
	Replacement *Replacement
}
