package decide

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// TestRecordedByAnotherName checks that lynqctl refuses a node that is recorded under
// another name than in this run, and keeps its recorded objects.
func TestRecordedByAnotherName(t *testing.T) {
	const both = `its form forms/eu-web and row "acme" are recorded by another name. Inventory ns/lynqnode-acme-eu-web is that of node acme-eu-web instead of acme-eu-web-897520f7 (`
	for name, c := range map[string]struct {
		change func(in *Input)
		node   string // the reason of the refusal
		leaves bool   // lynqctl deletes the inventory's node
	}{
		"only by the other name": {func(*Input) {}, both, false},
		"in an old inventory": {func(in *Input) {
			in.Recorded.Inventories[0].Node.Hub.Namespace, in.Recorded.Inventories[0].Node.Form.Namespace = "", ""
		}, both, false},
		"its inventory is deleted": {func(in *Input) {
			in.Recorded.Inventories[0].Deleting, in.Recorded.Inventories[0].Finalizer = true, true
		}, both, false},
		"the row does not render": {func(in *Input) { in.Desired.Nodes[0].Failed = errors.New("no number") }, "no number", false},
		"by both names": {func(in *Input) {
			second := in.Recorded.Inventories[0].Clone()
			second.Node.Name = in.Desired.Nodes[0].Name
			in.Recorded.Inventories = append(in.Recorded.Inventories, second)
		}, both, false},
		"the other name is another node's now": {func(in *Input) {
			in.Desired.Nodes = append(in.Desired.Nodes, &plan.Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Namespace: "hubs", Name: "crm"}, Form: lynq.FormKey{Namespace: "forms", Name: "web"}, UID: "acme-eu", Namespace: "ns", Name: "acme-eu-web"}})
		}, both, false},

		"another row":            {func(in *Input) { in.Recorded.Inventories[0].Node.UID = "bolt" }, "", true},
		"another form":           {func(in *Input) { in.Recorded.Inventories[0].Node.Form.Name = "web" }, "", true},
		"a form elsewhere":       {func(in *Input) { in.Recorded.Inventories[0].Node.Form.Namespace = "other" }, "", false},
		"another node namespace": {func(in *Input) { in.Recorded.Inventories[0].Node.Namespace = "other" }, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			in := &Input{
				Hub:     lynq.HubKey{Namespace: "hubs", Name: "crm"},
				Desired: Desired{Forms: []lynq.FormKey{{Namespace: "forms", Name: "eu-web"}, {Namespace: "forms", Name: "web"}}, Active: 1, Nodes: []*plan.Node{{NodeID: lynq.NodeID{Hub: lynq.HubKey{Namespace: "hubs", Name: "crm"}, Form: lynq.FormKey{Namespace: "forms", Name: "eu-web"}, UID: "acme", Namespace: "ns", Name: "acme-eu-web-897520f7"}}}},
				Recorded: Recorded{Inventories: []*inventory.Inventory{{
					Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "hubs", Name: "crm"}, Form: lynq.FormKey{Namespace: "forms", Name: "eu-web"}, UID: "acme", Namespace: "ns", Name: "acme-eu-web"}, UID: "inv",
					Entries: []inventory.Entry{{Ref: lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "acme"}, ID: "settings", Lifecycle: lynq.Lifecycle{Deletion: lynq.DeleteDelete}}},
				}}},
			}
			c.change(in)
			p := Decide(in, Limits{MaxDelete: limits.MaxDelete{Nodes: 9}})
			if len(p.Refusals) > 0 {
				t.Errorf("%s: %v", name, p.Refusals)
			}
			leaves := false
			for i := range p.Nodes {
				n := &p.Nodes[i]
				leaves = leaves || n.Desired == nil
				if n.Name != in.Desired.Nodes[0].Name {
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
		})
	}
}

// TestRefusedGivesNothingAway checks that no other node of the run takes a refused node's
// recorded objects. The recorded name and the refused node's current needs don't matter.
func TestRefusedGivesNothingAway(t *testing.T) {
	const recorded, made = "acme-eu-web", "acme-eu-web-897520f7"
	for name, c := range map[string]struct {
		change func(in *Input)
		holder string // the node that owns the object
		taken  bool
	}{
		"not refused": {func(in *Input) { in.Desired.Nodes[0].Name = recorded }, recorded, true},

		"only by the other name": {func(*Input) {}, recorded, false},
		"the other name is another node's now": {func(in *Input) {
			in.Desired.Nodes = append(in.Desired.Nodes, &plan.Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Namespace: "hubs", Name: "crm"}, Form: lynq.FormKey{Namespace: "forms", Name: "web"}, UID: "acme-eu", Namespace: "ns", Name: recorded}})
		}, recorded, false},
		"by both names, recorded by its own": {func(in *Input) {
			second := in.Recorded.Inventories[0].Clone()
			second.Node.Name, second.UID = made, "inv2"
			in.Recorded.Inventories[0].Entries = nil
			in.Recorded.Inventories = append(in.Recorded.Inventories, second)
		}, made, false},
		"by both names, recorded by the other": {func(in *Input) {
			second := in.Recorded.Inventories[0].Clone()
			second.Node.Name, second.UID, second.Entries = made, "inv2", nil
			in.Recorded.Inventories = append(in.Recorded.Inventories, second)
		}, recorded, false},
		"by two other names": {func(in *Input) {
			second := in.Recorded.Inventories[0].Clone()
			second.Node.Name, second.UID = "acme.eu.web", "inv2"
			in.Recorded.Inventories[0].Entries = nil
			in.Recorded.Inventories = append(in.Recorded.Inventories, second)
			in.Desired.Nodes = append(in.Desired.Nodes, &plan.Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Namespace: "hubs", Name: "crm"}, Form: lynq.FormKey{Namespace: "forms", Name: "web"}, UID: "acme.eu", Namespace: "ns", Name: second.Node.Name}})
		}, "acme.eu.web", false},
		"its inventory is of another row": {func(in *Input) {
			in.Desired.Nodes[0].Name, in.Recorded.Inventories[0].Node.UID = recorded, "bolt"
		}, recorded, false},
		"its inventory is being deleted, and held": {func(in *Input) {
			in.Desired.Nodes[0].Name, in.Recorded.Inventories[0].Deleting = recorded, true
		}, recorded, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, last := range []bool{false, true} {
				ref := lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "acme"}
				policy := lynq.DefaultPolicy()
				other := &plan.Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Namespace: "hubs", Name: "crm"}, Form: lynq.FormKey{Namespace: "forms", Name: "web"}, UID: "coil", Namespace: "ns", Name: "coil-web"}, Objects: []plan.Object{{Ref: ref, APIVersion: "v1", ID: "settings", Policy: &policy, Owned: true, Digest: "d"}}}
				in := &Input{
					Hub:     lynq.HubKey{Namespace: "hubs", Name: "crm"},
					Desired: Desired{Forms: []lynq.FormKey{{Namespace: "forms", Name: "eu-web"}, {Namespace: "forms", Name: "web"}}, Active: 2, Nodes: []*plan.Node{{NodeID: lynq.NodeID{Hub: lynq.HubKey{Namespace: "hubs", Name: "crm"}, Form: lynq.FormKey{Namespace: "forms", Name: "eu-web"}, UID: "acme", Namespace: "ns", Name: made}}}},
					Recorded: Recorded{Inventories: []*inventory.Inventory{{
						Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "hubs", Name: "crm"}, Form: lynq.FormKey{Namespace: "forms", Name: "eu-web"}, UID: "acme", Namespace: "ns", Name: recorded}, UID: "inv",
						Entries: []inventory.Entry{{Ref: ref, ID: "settings", UID: "u", Digest: "d", Lifecycle: lynq.Lifecycle{Deletion: lynq.DeleteDelete}}},
					}}},
					Observed: plan.Observed{Live: map[lynq.Ref]*tracking.Live{ref: {Ref: ref, UID: "u", Hub: "crm", PartOf: inventory.ID("ns", inventory.Name(c.holder))}}},
				}
				c.change(in)
				if last {
					in.Desired.Nodes = append(in.Desired.Nodes, other)
				} else {
					in.Desired.Nodes = append([]*plan.Node{other}, in.Desired.Nodes...)
				}
				want := verdict{plan.ActionBlock, plan.ReasonForeign}
				if c.taken {
					want = verdict{plan.ActionUpdate, plan.ReasonMoved}
				}
				p := Decide(in, Limits{MaxDelete: limits.MaxDelete{Nodes: 9}})
				taken := 0
				for i := range p.Nodes {
					for _, s := range p.Nodes[i].Steps {
						if s.Object == nil {
							if !c.taken {
								t.Errorf("%s, last %t: node %s: %s (%s)", name, last, p.Nodes[i].Name, s.Action, s.Reason)
							}
							continue
						}
						taken++
						if got := (verdict{s.Action, s.Reason}); got != want || !c.taken && !strings.Contains(s.Message, "node ns/"+c.holder) {
							t.Errorf("%s, last %t: %v (%s), want %v", name, last, got, s.Message, want)
						}
					}
				}
				if taken != 1 {
					t.Errorf("%s, last %t: %d steps want the object", name, last, taken)
				}
			}
		})
	}
}

// TestRefusedKeepsWhatOthersHaveToo checks that a deleted node doesn't delete an object
// that a refused node also owns by its entry and its tracking.
func TestRefusedKeepsWhatOthersHaveToo(t *testing.T) {
	for name, c := range map[string]struct {
		change func(in *Input, l *tracking.Live)
		want   verdict
	}{
		"both have it":                  {func(*Input, *tracking.Live) {}, verdict{plan.ActionSkip, plan.ReasonUnknown}},
		"the refused one's record only": {func(_ *Input, l *tracking.Live) { l.PartOf = inventory.ID("ns", inventory.Name("bolt-web")) }, verdict{plan.ActionDelete, plan.ReasonNodeGone}},
		"its tracking only":             {func(in *Input, _ *tracking.Live) { in.Recorded.Inventories[0].Entries = nil }, verdict{plan.ActionDelete, plan.ReasonNodeGone}},
	} {
		t.Run(name, func(t *testing.T) {
			ref := lynq.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "acme"}
			entries := []inventory.Entry{{Ref: ref, ID: "settings", UID: "u", Digest: "d", Lifecycle: lynq.Lifecycle{Deletion: lynq.DeleteDelete}}}
			live := &tracking.Live{Ref: ref, UID: "u", Hub: "crm", PartOf: inventory.ID("ns", inventory.Name("acme-eu-web")), Owners: []types.UID{"inv2"}}
			in := &Input{
				Hub:     lynq.HubKey{Namespace: "hubs", Name: "crm"},
				Desired: Desired{Forms: []lynq.FormKey{{Namespace: "forms", Name: "eu-web"}, {Namespace: "forms", Name: "web"}}, Active: 2, Nodes: []*plan.Node{{NodeID: lynq.NodeID{Hub: lynq.HubKey{Namespace: "hubs", Name: "crm"}, Form: lynq.FormKey{Namespace: "forms", Name: "eu-web"}, UID: "acme", Namespace: "ns", Name: "acme-eu-web-897520f7"}}}},
				Recorded: Recorded{Inventories: []*inventory.Inventory{
					{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "hubs", Name: "crm"}, Form: lynq.FormKey{Namespace: "forms", Name: "eu-web"}, UID: "acme", Namespace: "ns", Name: "acme-eu-web"}, UID: "inv", Entries: entries},
					{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "hubs", Name: "crm"}, Form: lynq.FormKey{Namespace: "forms", Name: "web"}, UID: "bolt", Namespace: "ns", Name: "bolt-web"}, UID: "inv2", Entries: entries},
				}},
				Observed: plan.Observed{Live: map[lynq.Ref]*tracking.Live{ref: live}},
			}
			c.change(in, live)
			decided := Decide(in, Limits{MaxDelete: limits.MaxDelete{Nodes: 9}})
			s := decided.Nodes[len(decided.Nodes)-1].Steps[0]
			if got := (verdict{s.Action, s.Reason}); got != c.want || s.Action == plan.ActionSkip && !strings.Contains(s.Message, "node ns/acme-eu-web, which") {
				t.Errorf("%s: %v (%s), want %v", name, got, s.Message, c.want)
			}
		})
	}
}
