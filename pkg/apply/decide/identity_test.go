package decide

import (
	"errors"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// identified returns a scene in which hub and form have namespaces.
func identified() *Input {
	in := scene(ours, lynq.DefaultPolicy())
	in.Hub.Namespace, in.Desired.Forms = "ns", []lynq.FormKey{{Namespace: "ns", Name: "web"}}
	in.Desired.Nodes[0].Hub.Namespace, in.Desired.Nodes[0].Form.Namespace = "ns", "ns"
	in.Recorded.Inventories[0].Node.Hub.Namespace, in.Recorded.Inventories[0].Node.Form.Namespace = "ns", "ns"
	return in
}

// TestIdentity compares the identity in a node's inventory with the node's own. It also
// checks the decision about the inventory if no row renders the node.
func TestIdentity(t *testing.T) {
	for name, tt := range map[string]struct {
		change         func(*inventory.Inventory)
		wanted, goners string
	}{
		"the same":                     {func(*inventory.Inventory) {}, "kept", "goes, but not by hand"},
		"without the namespaces (old)": {func(inv *inventory.Inventory) { inv.Node.Hub.Namespace, inv.Node.Form.Namespace = "", "" }, "kept", "goes, but not by hand"},
		"another row":                  {func(inv *inventory.Inventory) { inv.Node.UID = "acme-eu" }, `row "acme-eu", not to`, "goes, but not by hand"},
		"another form":                 {func(inv *inventory.Inventory) { inv.Node.Form.Name = "eu-web" }, `form ns/eu-web and row`, "nothing"},
		"a form of another namespace":  {func(inv *inventory.Inventory) { inv.Node.Form.Namespace = "far" }, `form far/web and row`, "nothing"},
		"another hub":                  {func(inv *inventory.Inventory) { inv.Node.Hub.Name = "erp" }, `hub ns/erp, form`, "goes, but not by hand"},
		"a hub of another namespace":   {func(inv *inventory.Inventory) { inv.Node.Hub.Namespace = "far" }, `hub far/crm, and not to hub ns/crm (if they are one hub, set its metadata.namespace to far, or`, "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			in := identified()
			tt.change(in.Recorded.Inventories[0])
			got := fate(&Decide(in, Limits{AllowEmpty: true}).Nodes[0])
			if !strings.Contains(got, tt.wanted) || tt.wanted != "kept" && !strings.Contains(got, " Inventory ns/lynqnode-acme-web belongs to hub ") {
				t.Errorf("%s: the node %s, want %s", name, got, tt.wanted)
			}
			if tt.wanted != "kept" { // the same if the node isn't among the hub's
				in.Recorded.Taken = map[lynq.NodeKey]*inventory.Inventory{in.Desired.Nodes[0].Key(): in.Recorded.Inventories[0]}
				all := in.Recorded.Inventories
				in.Recorded.Inventories = nil
				if got := fate(&Decide(in, Limits{AllowEmpty: true}).Nodes[0]); !strings.HasPrefix(got, "fails: another ") || !strings.Contains(got, tt.wanted) {
					t.Errorf("%s, of another hub: the node %s, want %s", name, got, tt.wanted)
				}
				in.Recorded.Inventories = all
			}
			in.Desired.Nodes, got = nil, "nothing"
			if decided := Decide(in, Limits{AllowEmpty: true}); len(decided.Nodes) > 0 {
				got = fate(&decided.Nodes[0])
			}
			if got != tt.goners {
				t.Errorf("%s, and no row wants it: it %s, want %s", name, got, tt.goners)
			}
		})
	}
}

// TestProof checks that lynqctl deletes a recorded object only if its tracking, with the
// hub's label, and its uid match the entry.
func TestProof(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*inventory.Entry, *tracking.Live)
		want   verdict
	}{
		"proven":                       {func(*inventory.Entry, *tracking.Live) {}, verdict{plan.ActionDelete, plan.ReasonNodeGone}},
		"an intent":                    {func(r *inventory.Entry, _ *tracking.Live) { r.UID = "" }, verdict{plan.ActionDelete, plan.ReasonNodeGone}},
		"an intent without tracking":   {func(r *inventory.Entry, l *tracking.Live) { r.UID, l.PartOf, l.Owners = "", "", nil }, verdict{plan.ActionRelease, plan.ReasonTakenOver}},
		"another uid":                  {func(r *inventory.Entry, _ *tracking.Live) { r.UID = "other" }, verdict{plan.ActionRelease, plan.ReasonTakenOver}},
		"no tracking":                  {func(_ *inventory.Entry, l *tracking.Live) { l.PartOf, l.Owners = "", nil }, verdict{plan.ActionRelease, plan.ReasonTakenOver}},
		"tracking without a hub label": {func(_ *inventory.Entry, l *tracking.Live) { l.Hub = "" }, verdict{plan.ActionRelease, plan.ReasonTakenOver}},
		"another hub's, and owned":     {func(_ *inventory.Entry, l *tracking.Live) { l.Hub = "erp" }, verdict{plan.ActionSkip, plan.ReasonForeign}},
		"another hub's":                {func(_ *inventory.Entry, l *tracking.Live) { l.Hub, l.Owners = "erp", nil }, verdict{plan.ActionRelease, plan.ReasonTakenOver}},
	} {
		t.Run(name, func(t *testing.T) {
			in := identified()
			in.Desired.Nodes = nil
			r := &in.Recorded.Inventories[0].Entries[0]
			tt.change(r, in.Observed.Live[r.Ref])
			s := Decide(in, Limits{AllowEmpty: true}).Nodes[0].Steps[0]
			if got := (verdict{s.Action, s.Reason}); got != tt.want {
				t.Errorf("%s: %v (%s), want %v", name, got, s.Message, tt.want)
			}
		})
	}
}

// TestClaims checks that lynqctl doesn't delete objects that a row that failed to render
// may need.
func TestClaims(t *testing.T) {
	ref := func(name string) lynq.Ref {
		r := identified().Recorded.Inventories[0].Entries[0].Ref
		r.Name = name
		return r
	}
	failed := func(uid, form string, c plan.Claims) *plan.Node {
		return &plan.Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Namespace: "ns", Name: "crm"}, Form: lynq.FormKey{Namespace: "ns", Name: form}, UID: uid, Namespace: "ns", Name: "other-web"}, Failed: errors.New("it failed to render"), Claims: c}
	}
	name := identified().Recorded.Inventories[0].Entries[0].Name
	other := plan.Claims{Refs: []lynq.Ref{ref("other")}}
	for what, tt := range map[string]struct {
		row  *plan.Node
		held bool
	}{
		"the same name":                        {failed("globex", "web", plan.Claims{Refs: []lynq.Ref{ref(name)}}), true},
		"the same name but for its case":       {failed("globex", "web", plan.Claims{Refs: []lynq.Ref{ref(strings.ToUpper(name) + " ")}}), true},
		"the same name of another kind":        {failed("globex", "web", plan.Claims{Refs: []lynq.Ref{{Kind: "Other", Name: name}}}), false},
		"another name":                         {failed("globex", "web", other), false},
		"another form's, the same name":        {failed("globex", "queue", plan.Claims{Refs: []lynq.Ref{ref(name)}}), true},
		"the same uid but for its case":        {failed(" ACME", "web", other), true},
		"the same uid of another form":         {failed("ACME", "queue", other), false},
		"no name, a value that is in the name": {failed("globex", "web", plan.Claims{Refs: []lynq.Ref{ref("")}, Values: []string{"", strings.ToUpper(name)}}), true},
		"no name, other values":                {failed("globex", "web", plan.Claims{Refs: []lynq.Ref{ref("")}, Values: []string{"", "x1y2"}}), false},
	} {
		t.Run(what, func(t *testing.T) {
			in := identified()
			in.Desired.Nodes = []*plan.Node{tt.row}
			decided := Decide(in, Limits{AllowEmpty: true})
			s := decided.Nodes[len(decided.Nodes)-1].Steps[0]
			want := verdict{plan.ActionDelete, plan.ReasonNodeGone}
			if tt.held {
				want = verdict{plan.ActionSkip, plan.ReasonRowUnknown}
			}
			if got := (verdict{s.Action, s.Reason}); got != want {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
			if tt.held && !strings.Contains(s.Message, tt.row.UID) {
				t.Errorf("%s: %q does not name the row", what, s.Message)
			}
		})
	}
}
