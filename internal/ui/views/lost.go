package views

import (
	"strconv"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/pkg/apply/restore"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// RestorationList lists the inventories to restore.
func RestorationList(found []restore.Restoration) *list.List {
	l := lostList("PROBLEM", "No inventory needs to be restored")
	for i := range found {
		r := &found[i]
		l.Items = append(l.Items, lostItem(r.Inventory, string(r.Loss), restorationData{lostDataOf(r.Inventory), r.Loss}))
	}
	return l
}

// RebuiltList lists the inventories that rebuild made from objects.
func RebuiltList(rebuilt []orphan.Rebuilt) *list.List {
	l := lostList("NEW ENTRIES", "No inventory needs to be rebuilt")
	for i := range rebuilt {
		b := &rebuilt[i]
		l.Items = append(l.Items, lostItem(b.Inventory, strconv.Itoa(b.Added), rebuiltData{lostDataOf(b.Inventory), b.Added}))
	}
	return l
}

// lostList returns an empty list of lost inventories, with its own last column.
func lostList(last, empty string) *list.List {
	return &list.List{
		Columns: []list.Column{{Name: "NAMESPACE"}, {Name: "NODE"}, {Name: "HUB"}, {Name: "FORM"}, {Name: "ROW"}, {Name: "OBJECTS"}, {Name: last}},
		Empty:   empty,
	}
}

func lostItem(inv *inventory.Inventory, last string, data any) list.Item {
	return list.Item{
		Cells: []string{inv.Node.Namespace, inv.Node.Name, inv.Node.Hub.Name, inv.Node.Form.Name, inv.Node.UID, strconv.Itoa(len(inv.Entries)), last},
		Name:  inv.Node.String(),
		Data:  data,
	}
}

// lostData is a lost inventory in JSON and YAML (docs/inventory.md).
type lostData struct {
	ui.NodeFields
	UID     string `json:"uid"`
	Objects int    `json:"objects"`
}

func lostDataOf(inv *inventory.Inventory) lostData {
	return lostData{ui.NodeFieldsOf(inv.Node), inv.Node.UID, len(inv.Entries)}
}

type restorationData struct {
	lostData
	Lost restore.Loss `json:"lost"`
}

type rebuiltData struct {
	lostData
	Added int `json:"added"`
}
