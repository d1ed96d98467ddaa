package apply

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// What version renders what is recorded of a node, by how a run of v2 left its
// objects.
func TestVersionOfNode(t *testing.T) {
	unwell := &Node{Failed: errNoMetadata}
	step := func(recorded, wanted string) stepRun {
		s := stepRun{Step: &Step{}}
		if recorded != "-" {
			s.record = &inventory.Record{Digest: recorded}
		}
		if wanted != "-" {
			s.Object = &Object{Digest: wanted}
		}
		return s
	}
	once := step("a", "b")
	once.record.Creation = lynq.CreateOnce
	for name, tt := range map[string]struct {
		version string
		desired *Node
		steps   []stepRun
		changed bool // something else is recorded
		want    string
		written bool
		settled bool
	}{
		"the same, nothing new":            {"v2", &Node{}, []stepRun{step("a", "a")}, false, "v2", false, true},
		"the same, all written":            {"v2", &Node{}, []stepRun{step("a", "a")}, true, "v2", true, true},
		"the same, some not written":       {"v2", &Node{}, []stepRun{step("a", "b")}, true, "v2", true, true},
		"another, nothing new":             {"v1", &Node{}, []stepRun{step("a", "a")}, false, "v2", false, true},
		"another, all written":             {"v1", &Node{}, []stepRun{step("a", "a"), step("b", "b")}, true, "v2", true, true},
		"another, some not written":        {"v1", &Node{}, []stepRun{step("a", "a"), step("b", "c")}, false, "", true, false},
		"another, some never written":      {"v1", &Node{}, []stepRun{step("", "c"), step("-", "c")}, false, "v2", false, true},
		"another, some left and did not":   {"v1", &Node{}, []stepRun{step("a", "a"), step("b", "-")}, false, "", true, false},
		"another, some gone":               {"v1", &Node{}, []stepRun{step("a", "a"), step("-", "-")}, false, "v2", false, true},
		"another, created once":            {"v1", &Node{}, []stepRun{once}, false, "v2", false, true},
		"another, not rendered":            {"v1", unwell, nil, false, "", true, false},
		"another, going":                   {"v1", nil, []stepRun{step("a", "-")}, false, "", true, false},
		"unknown, nothing new":             {"", &Node{}, []stepRun{step("a", "a")}, false, "v2", false, true},
		"unknown, all written":             {"", &Node{}, []stepRun{step("a", "a")}, true, "v2", true, true},
		"unknown, some not written":        {"", &Node{}, []stepRun{step("a", "b")}, false, "", false, true},
		"unknown, some not written, moved": {"", &Node{}, []stepRun{step("a", "b")}, true, "", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			n := &nodeRun{
				run:  &run{Runner: &Runner{Options: Options{Version: "v2"}}},
				plan: &NodePlan{Desired: tt.desired}, steps: tt.steps, inventory: &inventory.Inventory{Version: tt.version},
			}
			next := n.inventory.Clone()
			if tt.changed {
				next.Activate = "false"
			}
			settled := n.settles()
			if written := n.differs(next); written != tt.written || next.Version != tt.want || settled != tt.settled {
				t.Errorf("version %q, written %t, settled %t; want %q, %t, %t", next.Version, written, settled, tt.want, tt.written, tt.settled)
			}
		})
	}
}

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
		inv, hub, r := &inventory.Inventory{Version: tt.node}, &inventory.Hub{Version: tt.hub}, &inventory.Record{}
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
	if SameVersion("", &inventory.Record{}, &inventory.Inventory{}, nil) {
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
		"a broken record":    {func(in *Input) { in.Broken = map[NodeKey]error{{"ns", "x"}: errNoMetadata} }, false},
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
