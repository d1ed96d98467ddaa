package decide

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
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
		t.Run(tt.node, func(t *testing.T) {
			inv, hub, r := &inventory.Inventory{Version: tt.node}, &inventory.Hub{Version: tt.hub}, &inventory.Entry{}
			if got := plan.SameVersion("v2", r, inv, hub); got != tt.want {
				t.Errorf("node %q, hub %q: %t", tt.node, tt.hub, got)
			}
			if got := plan.SameVersion("v2", r, inv, nil); got != (tt.node == "v2") {
				t.Errorf("node %q, no hub: %t", tt.node, got)
			}
			if r.Creation = lynq.CreateOnce; plan.SameVersion("v2", r, inv, hub) {
				t.Errorf("node %q, hub %q: created once, and the same", tt.node, tt.hub)
			}
		})
	}
	if plan.SameVersion("", &inventory.Entry{}, &inventory.Inventory{}, nil) {
		t.Error("what is not known is the same")
	}
}

// A plan is whole if it has every recorded node, desired or deleted.
func TestWholePlans(t *testing.T) {
	acme, old := lynq.NodeKey{Namespace: "ns", Name: "acme-web"}, lynq.NodeKey{Namespace: "ns", Name: "old-web"}
	for name, tt := range map[string]struct {
		change func(*Input)
		want   bool
	}{
		"all rows and forms": {func(*Input) {}, true},
		"only one node":      {func(in *Input) { in.Scope.Only = map[string]bool{acme.Name: true} }, false},
		"only some objects":  {func(in *Input) { in.Scope.Narrowed = true }, false},
		"without its form":   {func(in *Input) { in.Desired.Forms = []lynq.FormKey{{Name: "other"}} }, false},
		"a broken record": {func(in *Input) {
			in.Recorded.Broken = map[lynq.NodeKey]error{{Namespace: "ns", Name: "x"}: manifest.ErrNoMetadata}
		}, false},
		"another hub's node": {func(in *Input) {
			in.Scope.Only, in.Recorded.Inventories[1].Node.Hub.Namespace = map[string]bool{}, "far"
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			in := &Input{Hub: lynq.HubKey{Namespace: "ns", Name: "crm"}, Desired: Desired{Forms: []lynq.FormKey{{Name: "web"}}, Active: 1, Nodes: []*plan.Node{{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: acme.Name, Namespace: acme.Namespace, Name: acme.Name}}}}}
			for _, k := range []lynq.NodeKey{acme, old} {
				in.Recorded.Inventories = append(in.Recorded.Inventories, &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: k.Name, Namespace: k.Namespace, Name: k.Name}})
			}
			tt.change(in)
			if got := Decide(in, Limits{}).Whole; got != tt.want {
				t.Errorf("%s: whole %t", name, got)
			}
		})
	}
}
