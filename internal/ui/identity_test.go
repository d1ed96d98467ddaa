package ui_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// TestNodeFields wants every output to have the same fields of a node, in the same order.
func TestNodeFields(t *testing.T) {
	id := lynq.NodeID{
		Hub: lynq.HubKey{Namespace: "hubs", Name: "crm"}, Form: lynq.FormKey{Namespace: "forms", Name: "web"},
		UID: "acme", Namespace: "shop", Name: "acme-web",
	}
	nodes := []status.Node{{NodeID: id}}
	const want = `{"node":"acme-web","namespace":"shop","hub":"crm","hubNamespace":"hubs","form":"web","formNamespace":"forms","uid":"acme",`
	for name, data := range map[string]any{
		"status":         (&ui.NodeView{}).Items(nodes, nodes, time.Time{})[0].Data,
		"status node":    (&ui.NodeNow{Node: nodes[0]}).Details(time.Time{}).Data,
		"inventory show": ui.InventoryDetails(&inventory.Inventory{Node: id}, time.Time{}).Data,
	} {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(data)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(text), want) {
				t.Errorf("%s", text)
			}
		})
	}
}
