package ui

import (
	"strconv"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// RestorationList lists the inventories that are restored.
func RestorationList(found []plan.Restoration) *List {
	l := &List{
		Columns: []Column{{Name: "NAMESPACE"}, {Name: "NODE"}, {Name: "HUB"}, {Name: "FORM"}, {Name: "ROW"}, {Name: "OBJECTS"}, {Name: "LOST"}},
		Empty:   "No inventory needs to be restored",
	}
	for _, r := range found {
		l.Items = append(l.Items, Item{
			Cells: []string{r.Namespace, r.Node, r.Hub, r.Form, r.RowUID, strconv.Itoa(len(r.Entries)), string(r.Loss)},
			Name:  r.Namespace + "/" + r.Node,
			Data:  restorationData{r.Node, r.Namespace, r.Hub, r.HubNamespace, r.Form, r.RowUID, len(r.Entries), r.Loss},
		})
	}
	return l
}

// restorationData is an inventory as JSON and YAML have it (docs/inventory.md).
type restorationData struct {
	Node         string    `json:"node"`
	Namespace    string    `json:"namespace"`
	Hub          string    `json:"hub"`
	HubNamespace string    `json:"hubNamespace,omitempty"`
	Form         string    `json:"form"`
	UID          string    `json:"uid"`
	Objects      int       `json:"objects"`
	Lost         plan.Loss `json:"lost"`
}

// RebuiltList lists inventories that are made of what objects say.
func RebuiltList(rebuilt []orphan.Rebuilt) *List {
	l := &List{
		Columns: []Column{{Name: "NAMESPACE"}, {Name: "NODE"}, {Name: "HUB"}, {Name: "FORM"}, {Name: "ROW"}, {Name: "OBJECTS"}, {Name: "ADDED"}},
		Empty:   "No inventory needs to be rebuilt",
	}
	for _, b := range rebuilt {
		l.Items = append(l.Items, Item{
			Cells: []string{b.Namespace, b.Node, b.Hub, b.Form, b.RowUID, strconv.Itoa(len(b.Entries)), strconv.Itoa(b.Added)},
			Name:  b.Namespace + "/" + b.Node,
			Data:  rebuiltData{b.Node, b.Namespace, b.Hub, b.HubNamespace, b.Form, b.RowUID, len(b.Entries), b.Added},
		})
	}
	return l
}

// rebuiltData is a record as JSON and YAML have it (docs/inventory.md).
type rebuiltData struct {
	Node         string `json:"node"`
	Namespace    string `json:"namespace"`
	Hub          string `json:"hub"`
	HubNamespace string `json:"hubNamespace,omitempty"`
	Form         string `json:"form"`
	UID          string `json:"uid"`
	Objects      int    `json:"objects"`
	Added        int    `json:"added"`
}
