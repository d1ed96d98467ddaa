package plan

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func TestSameVersion(t *testing.T) {
	for _, tt := range []struct {
		node, hub string
		want      bool
	}{
		{"v2", "", true},
		{"v2", "v1", true},
		{"v1", "v2", true},
		{"v1", "v1", false},
		{"v1", "", false},
		{"", "v2", false},
	} {
		inv, hub, r := &inventory.Inventory{Version: tt.node}, &inventory.Hub{Version: tt.hub}, &inventory.Entry{}
		if got := SameVersion("v2", r, inv, hub); got != tt.want {
			t.Errorf("node %q, hub %q: %t", tt.node, tt.hub, got)
		}
		if got := SameVersion("v2", r, inv, nil); got != (tt.node == "v2") {
			t.Errorf("node %q, no hub: %t", tt.node, got)
		}
		if r.Creation = lynq.CreateOnce; SameVersion("v2", r, inv, hub) {
			t.Errorf("node %q, hub %q: created once, and the same", tt.node, tt.hub)
		}
	}
	if SameVersion("", &inventory.Entry{}, &inventory.Inventory{}, nil) {
		t.Error("what is not known is the same")
	}
}

// A plan is whole where every recorded node is in it, wanted or going.
func TestWholePlans(t *testing.T) {
	acme, old := NodeKey{"ns", "acme-web"}, NodeKey{"ns", "old-web"}
	for name, tt := range map[string]struct {
		change func(*Input)
		want   bool
	}{
		"all rows and forms": {func(*Input) {}, true},
		"only one node":      {func(in *Input) { in.Only = map[string]bool{acme.Name: true} }, false},
		"only some objects":  {func(in *Input) { in.Narrowed = true }, false},
		"without its form":   {func(in *Input) { in.Forms = []lynq.FormKey{{Name: "other"}} }, false},
		"a broken record":    {func(in *Input) { in.Broken = map[NodeKey]error{{"ns", "x"}: ErrNoMetadata} }, false},
		"another hub's node": {func(in *Input) { in.Only, in.Inventories[1].HubNamespace = map[string]bool{}, "far" }, true},
	} {
		in := &Input{Hub: "crm", HubNamespace: "ns", Forms: []lynq.FormKey{{Name: "web"}}, Active: 1, Nodes: []*Node{{NodeKey: acme, Hub: "crm", Form: "web", UID: acme.Name}}}
		for _, k := range []NodeKey{acme, old} {
			in.Inventories = append(in.Inventories, &inventory.Inventory{Node: k.Name, Namespace: k.Namespace, Hub: "crm", Form: "web", RowUID: k.Name})
		}
		tt.change(in)
		if got := Decide(in, Limits{}).Whole; got != tt.want {
			t.Errorf("%s: whole %t", name, got)
		}
	}
}
