package plan

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// identified is a scene in which hub and form have namespaces.
func identified() *Input {
	in := scene(ours, lynq.DefaultPolicy())
	in.HubNamespace, in.Forms = "ns", []lynq.FormKey{{Namespace: "ns", Name: "web"}}
	in.Nodes[0].HubNamespace, in.Nodes[0].FormNamespace = "ns", "ns"
	in.Inventories[0].HubNamespace, in.Inventories[0].FormNamespace = "ns", "ns"
	return in
}

// TestIdentity: what a node's inventory says that it is of, against what the node
// is; and what becomes of the inventory where no row wants the node.
func TestIdentity(t *testing.T) {
	for name, tt := range map[string]struct {
		change         func(*inventory.Inventory)
		wanted, goners string
	}{
		"the same":                     {func(*inventory.Inventory) {}, "kept", "goes, but not by hand"},
		"without the namespaces (old)": {func(inv *inventory.Inventory) { inv.HubNamespace, inv.FormNamespace = "", "" }, "kept", "goes, but not by hand"},
		"another row":                  {func(inv *inventory.Inventory) { inv.RowUID = "acme-eu" }, `row "acme-eu", not to`, "goes, but not by hand"},
		"another form":                 {func(inv *inventory.Inventory) { inv.Form = "eu-web" }, `form ns/eu-web and row`, "nothing"},
		"a form of another namespace":  {func(inv *inventory.Inventory) { inv.FormNamespace = "far" }, `form far/web and row`, "nothing"},
		"another hub":                  {func(inv *inventory.Inventory) { inv.Hub = "erp" }, `hub ns/erp, form`, "goes, but not by hand"},
		"a hub of another namespace":   {func(inv *inventory.Inventory) { inv.HubNamespace = "far" }, `hub far/crm, form`, "nothing"},
	} {
		in := identified()
		tt.change(in.Inventories[0])
		got := fate(&Decide(in, Limits{AllowEmpty: true}).Nodes[0])
		if !strings.Contains(got, tt.wanted) || tt.wanted != "kept" && !strings.HasPrefix(got, "fails: another node has this name: inventory ns/lynqnode-acme-web belongs to hub ") {
			t.Errorf("%s: the node %s, want %s", name, got, tt.wanted)
		}
		if tt.wanted != "kept" { // and where it is not among those of the hub
			in.Taken = map[NodeKey]*inventory.Inventory{in.Nodes[0].NodeKey: in.Inventories[0]}
			all := in.Inventories
			in.Inventories = nil
			if got := fate(&Decide(in, Limits{AllowEmpty: true}).Nodes[0]); !strings.HasPrefix(got, "fails: another node has this name") || !strings.Contains(got, tt.wanted) {
				t.Errorf("%s, of another hub: the node %s, want %s", name, got, tt.wanted)
			}
			in.Inventories = all
		}
		in.Nodes, got = nil, "nothing"
		if plan := Decide(in, Limits{AllowEmpty: true}); len(plan.Nodes) > 0 {
			got = fate(&plan.Nodes[0])
		}
		if got != tt.goners {
			t.Errorf("%s, and no row wants it: it %s, want %s", name, got, tt.goners)
		}
	}
}

// TestProof: a recorded object is deleted only where its tracking, with the hub's
// label, and its uid agree with the record.
func TestProof(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*inventory.Entry, *Live)
		want   verdict
	}{
		"proven":                       {func(*inventory.Entry, *Live) {}, verdict{ActionDelete, ReasonNodeGone}},
		"an intent":                    {func(r *inventory.Entry, _ *Live) { r.UID = "" }, verdict{ActionDelete, ReasonNodeGone}},
		"an intent without tracking":   {func(r *inventory.Entry, l *Live) { r.UID, l.PartOf, l.Owners = "", "", nil }, verdict{ActionRelease, ReasonTakenOver}},
		"another uid":                  {func(r *inventory.Entry, _ *Live) { r.UID = "other" }, verdict{ActionRelease, ReasonTakenOver}},
		"no tracking":                  {func(_ *inventory.Entry, l *Live) { l.PartOf, l.Owners = "", nil }, verdict{ActionRelease, ReasonTakenOver}},
		"tracking without a hub label": {func(_ *inventory.Entry, l *Live) { l.Hub = "" }, verdict{ActionRelease, ReasonTakenOver}},
		"another hub's, and owned":     {func(_ *inventory.Entry, l *Live) { l.Hub = "erp" }, verdict{ActionSkip, ReasonForeign}},
		"another hub's":                {func(_ *inventory.Entry, l *Live) { l.Hub, l.Owners = "erp", nil }, verdict{ActionRelease, ReasonTakenOver}},
	} {
		in := identified()
		in.Nodes = nil
		r := &in.Inventories[0].Entries[0]
		tt.change(r, in.Live[r.Ref])
		s := Decide(in, Limits{AllowEmpty: true}).Nodes[0].Steps[0]
		if got := (verdict{s.Action, s.Reason}); got != tt.want {
			t.Errorf("%s: %v (%s), want %v", name, got, s.Message, tt.want)
		}
	}
}

// TestClaims: what a row that did not render may want is not deleted.
func TestClaims(t *testing.T) {
	ref := func(name string) lynq.Ref {
		r := identified().Inventories[0].Entries[0].Ref
		r.Name = name
		return r
	}
	failed := func(uid, form string, c Claims) *Node {
		return &Node{NodeKey: NodeKey{"ns", "other-web"}, Hub: "crm", HubNamespace: "ns", Form: form, FormNamespace: "ns", UID: uid,
			Failed: errors.New("it could not be rendered"), Claims: c}
	}
	name := identified().Inventories[0].Entries[0].Name
	other := Claims{Refs: []lynq.Ref{ref("other")}}
	for what, tt := range map[string]struct {
		row  *Node
		held bool
	}{
		"the same name":                        {failed("globex", "web", Claims{Refs: []lynq.Ref{ref(name)}}), true},
		"the same name but for its case":       {failed("globex", "web", Claims{Refs: []lynq.Ref{ref(strings.ToUpper(name) + " ")}}), true},
		"the same name of another kind":        {failed("globex", "web", Claims{Refs: []lynq.Ref{{Kind: "Other", Name: name}}}), false},
		"another name":                         {failed("globex", "web", other), false},
		"another form's, the same name":        {failed("globex", "queue", Claims{Refs: []lynq.Ref{ref(name)}}), true},
		"the same uid but for its case":        {failed(" ACME", "web", other), true},
		"the same uid of another form":         {failed("ACME", "queue", other), false},
		"no name, a value that is in the name": {failed("globex", "web", Claims{Refs: []lynq.Ref{ref("")}, Values: []string{"", strings.ToUpper(name)}}), true},
		"no name, other values":                {failed("globex", "web", Claims{Refs: []lynq.Ref{ref("")}, Values: []string{"", "x1y2"}}), false},
	} {
		in := identified()
		in.Nodes = []*Node{tt.row}
		plan := Decide(in, Limits{AllowEmpty: true})
		s := plan.Nodes[len(plan.Nodes)-1].Steps[0]
		want := verdict{ActionDelete, ReasonNodeGone}
		if tt.held {
			want = verdict{ActionSkip, ReasonRowUnknown}
		}
		if got := (verdict{s.Action, s.Reason}); got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
		if tt.held && !strings.Contains(s.Message, tt.row.UID) {
			t.Errorf("%s: %q does not name the row", what, s.Message)
		}
	}
}

// TestNamespaces: in which namespaces inventories count.
func TestNamespaces(t *testing.T) {
	hub := lynq.HubKey{Namespace: "home", Name: "crm"}
	inventories := []*inventory.Inventory{{Node: "a", Namespace: "old", Format: 2}, {Node: "b", Namespace: "new"}, {Node: "c", Namespace: "home"}}
	for name, tt := range map[string]struct {
		record *inventory.Hub
		want   string
	}{
		"no record":         {nil, "form home"},
		"a new record":      {&inventory.Hub{Namespaces: []string{"x"}}, "form home"}, // none was read
		"a record":          {&inventory.Hub{UID: "1", Namespaces: []string{"eu"}}, "eu form home"},
		"an old record":     {&inventory.Hub{UID: "1", Format: 2}, "form home old"},
		"a record of today": {&inventory.Hub{UID: "1"}, "form home"},
	} {
		got := Namespaces(hub, tt.record, []string{"form"}, inventories)
		if text := strings.Join(slices.Sorted(maps.Keys(got)), " "); text != tt.want {
			t.Errorf("%s: %s, want %s", name, text, tt.want)
		}
	}
	broken := []*inventory.UnreadableError{{Namespace: "eu", Name: "lynqnode-x"}, {Namespace: "home", Name: "lynqnode-y"}}
	kept, unread, others := Within(map[string]bool{"home": true}, inventories, broken)
	if len(kept) != 1 || kept[0].Node != "c" || len(unread) != 1 || unread[0].Name != "lynqnode-y" || strings.Join(others, " ") != "eu/lynqnode-x new/lynqnode-b old/lynqnode-a" {
		t.Errorf("%v %v %v", kept, unread, others)
	}
}
