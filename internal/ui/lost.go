package ui

import (
	"strconv"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// RestorationList lists the inventories to restore. complete is false if some others can't
// be restored.
func RestorationList(found []plan.Restoration, complete bool) *list.List {
	l, called := lostList("PROBLEM", "restored", complete), newShortNames()
	for i := range found {
		called.seeNode(&found[i].Node)
	}
	for i := range found {
		r := &found[i]
		l.Items = append(l.Items, lostItem(r.Inventory, called, string(r.Loss), restorationData{lostDataOf(r.Inventory), r.Loss}))
	}
	return l
}

// RebuiltList lists the inventories that rebuild made from objects. complete is false if
// some objects can't be recorded.
func RebuiltList(rebuilt []plan.Restoration, complete bool) *list.List {
	l, called := lostList("NEW ENTRIES", "rebuilt", complete), newShortNames()
	for i := range rebuilt {
		called.seeNode(&rebuilt[i].Node)
		for _, hub := range rebuilt[i].Others {
			called.hubs.See(hub.Namespace, hub.Name)
		}
	}
	for i := range rebuilt {
		b := &rebuilt[i]
		l.Items = append(l.Items, lostItem(b.Inventory, called, strconv.Itoa(b.Added), rebuiltData{lostDataOf(b.Inventory), b.Added}))
	}
	return l
}

// lostList returns an empty list of lost inventories, with its own last column. done is the
// past tense of what the command does with them.
func lostList(last, done string, complete bool) *list.List {
	empty := "No inventory needs to be " + done
	if !complete {
		empty = "No inventory can be " + done
	}
	return &list.List{
		Columns: []list.Column{
			{Name: "NAMESPACE"}, {Name: "NODE"}, {Name: "HUB"}, {Name: "FORM"}, {Name: "ROW"}, {Name: "OBJECTS"}, {Name: last},
			{Name: hubNamespace, Wide: true},
		},
		Empty: empty,
	}
}

func lostItem(inv *inventory.Inventory, called shortNames, last string, data any) list.Item {
	id := inv.Node.Full()
	return list.Item{
		Cells: []string{id.Namespace, id.Name, called.hub(id.Hub), called.form(id.Form), id.UID, strconv.Itoa(len(inv.Entries)), last, id.Hub.Namespace},
		Name:  inv.Node.String(),
		Data:  data,
	}
}

// lostData is a lost inventory in JSON and YAML (docs/inventory.md).
type lostData struct {
	NodeFields
	UID     string `json:"uid"`
	Objects int    `json:"objects"`
}

func lostDataOf(inv *inventory.Inventory) lostData {
	return lostData{NodeFieldsOf(inv.Node), inv.Node.UID, len(inv.Entries)}
}

type restorationData struct {
	lostData
	Lost plan.Loss `json:"lost"`
}

type rebuiltData struct {
	lostData
	Added int `json:"added"`
}
