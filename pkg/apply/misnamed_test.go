package apply

import (
	"errors"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestRecordedByAnotherName: a node that is recorded by another name than the one
// it has in this run is refused, and what is recorded of it stays, whatever else
// there is.
func TestRecordedByAnotherName(t *testing.T) {
	const both = `its form forms/eu-web and row "acme" are recorded by another name: inventory ns/lynqnode-acme-eu-web is that of node acme-eu-web, and would have to be that of node acme-eu-web-897520f7 (`
	for name, c := range map[string]struct {
		change func(in *Input)
		node   string // why it is refused
		leaves bool   // the node of the inventory goes
	}{
		"only by the other name":   {func(*Input) {}, both, false},
		"in an old inventory":      {func(in *Input) { in.Inventories[0].HubNamespace, in.Inventories[0].FormNamespace = "", "" }, both, false},
		"its inventory is deleted": {func(in *Input) { in.Inventories[0].Deleting, in.Inventories[0].Finalizer = true, true }, both, false},
		"the row does not render":  {func(in *Input) { in.Nodes[0].Failed = errors.New("no number") }, "no number", false},
		"by both names": {func(in *Input) {
			second := in.Inventories[0].Clone()
			second.Node = in.Nodes[0].Name
			in.Inventories = append(in.Inventories, second)
		}, both, false},
		"the other name is another node's now": {func(in *Input) {
			in.Nodes = append(in.Nodes, &Node{NodeKey: NodeKey{"ns", "acme-eu-web"}, Hub: "crm", HubNamespace: "hubs", Form: "web", FormNamespace: "forms", UID: "acme-eu"})
		}, both, false},

		"another row":            {func(in *Input) { in.Inventories[0].RowUID = "bolt" }, "", true},
		"another form":           {func(in *Input) { in.Inventories[0].Form = "web" }, "", true},
		"a form elsewhere":       {func(in *Input) { in.Inventories[0].FormNamespace = "other" }, "", false},
		"another node namespace": {func(in *Input) { in.Inventories[0].Namespace = "other" }, "", true},
	} {
		in := &Input{
			Hub: "crm", HubNamespace: "hubs", Forms: []lynq.FormKey{{Namespace: "forms", Name: "eu-web"}, {Namespace: "forms", Name: "web"}}, Active: 1,
			Nodes: []*Node{{NodeKey: NodeKey{"ns", "acme-eu-web-897520f7"}, Hub: "crm", HubNamespace: "hubs", Form: "eu-web", FormNamespace: "forms", UID: "acme"}},
			Inventories: []*inventory.Inventory{{
				Node: "acme-eu-web", Namespace: "ns", Hub: "crm", HubNamespace: "hubs", Form: "eu-web", FormNamespace: "forms", RowUID: "acme", UID: "inv",
				Records: []inventory.Record{{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "acme"}, ID: "settings", Deletion: lynq.DeleteDelete}},
			}},
		}
		c.change(in)
		p := Decide(in, Limits{MaxDelete: MaxDelete{Nodes: 9}})
		if len(p.Refusals) > 0 {
			t.Errorf("%s: %v", name, p.Refusals)
		}
		leaves := false
		for i := range p.Nodes {
			n := &p.Nodes[i]
			leaves = leaves || n.Desired == nil
			if n.Name != in.Nodes[0].Name {
				continue
			}
			why := ""
			if n.Desired.Failed != nil {
				why = n.Desired.Failed.Error()
			}
			if c.node == "" && why != "" || !strings.HasPrefix(why, c.node) || c.node != "" && len(n.Steps) > 0 {
				t.Errorf("%s: refused because %q, with %d steps", name, why, len(n.Steps))
			}
		}
		if leaves != c.leaves {
			t.Errorf("%s: the recorded node goes: %v", name, leaves)
		}
	}
}
