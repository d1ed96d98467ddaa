package inventory

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestCounting checks that inventories count in the namespaces of their own hub's record.
// Hubs of one name are independent, and one without a record limits nothing.
func TestCounting(t *testing.T) {
	inv := func(namespace, hub, hubNamespace string) *Inventory {
		return &Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: hubNamespace, Name: hub}, Namespace: namespace, Name: "acme-web"}}
	}
	torn := func(namespace, hub, hubNamespace string) *UnreadableError {
		return &UnreadableError{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: hubNamespace, Name: hub}, Namespace: namespace, Name: "torn-web"}, Name: "lynqnode-torn-web", Err: errors.New("torn")}
	}
	all := []*Inventory{
		inv("shop", "crm", "shop"), inv("far", "crm", "shop"), inv("evil", "crm", "shop"), inv("far", "crm", "other"),
		inv("evil", "crm", "other"), inv("evil", "lost", "shop"), inv("evil", "crm", ""),
	}
	broken := []*UnreadableError{
		torn("shop", "crm", "shop"), torn("evil", "crm", "shop"), torn("evil", "lost", "shop"), torn("evil", "", "shop"),
		{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "other", Name: "crm"}, Namespace: "evil"}, Name: "nonsense", Err: errors.New("torn")},
	}
	hubs := []*Hub{
		{Namespace: "shop", Name: "crm", UID: "1", Namespaces: []string{"far"}}, {Namespace: "other", Name: "crm", UID: "2"},
	}
	kept, keptBroken, ignored := NewCounting(hubs).Split(all, broken)
	var got []string
	for _, inv := range kept {
		got = append(got, inv.Node.Namespace+": "+inv.Node.Full().Hub.String())
	}
	for _, b := range keptBroken {
		got = append(got, b.Node.Namespace+" torn: "+b.Node.Full().Hub.String())
	}
	want := []string{
		"shop: shop/crm", "far: shop/crm", "evil: shop/lost", "evil: evil/crm",
		"shop torn: shop/crm", "evil torn: shop/lost", "evil torn: shop/",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what counts (-want +got)\n%s", diff)
	}
	warnings := []string{
		IgnoredInventories(lynq.HubKey{Namespace: "other", Name: "crm"}, []string{"evil/lynqnode-acme-web", "evil/nonsense", "far/lynqnode-acme-web"}),
		IgnoredInventories(lynq.HubKey{Namespace: "shop", Name: "crm"}, []string{"evil/lynqnode-acme-web", "evil/lynqnode-torn-web"}),
	}
	if diff := cmp.Diff(warnings, ignored.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got)\n%s", diff)
	}
	if nodes := ignored.Nodes(); len(nodes) != 4 || !slices.Contains(nodes, lynq.NodeKey{Namespace: "evil", Name: "torn-web"}) {
		t.Errorf("nodes of what is ignored: %v", nodes)
	}
	away := []lynq.HubKey{{Namespace: "other", Name: "crm"}, {Namespace: "shop", Name: "crm"}, {Namespace: "shop", Name: "lost"}}
	if diff := cmp.Diff(away, Away(all, broken)); diff != "" {
		t.Errorf("away from their hubs (-want +got)\n%s", diff)
	}
}

// TestApart checks which namespaces can't have inventories of some hubs.
func TestApart(t *testing.T) {
	crm, erp, lost := lynq.HubKey{Namespace: "shop", Name: "crm"}, lynq.HubKey{Namespace: "shop", Name: "erp"}, lynq.HubKey{Namespace: "shop", Name: "lost"}
	c := NewCounting([]*Hub{
		{Namespace: "shop", Name: "crm", UID: "1", Namespaces: []string{"far"}}, {Namespace: "shop", Name: "erp", UID: "2"},
	})
	for name, tt := range map[string]struct {
		namespace string
		hubs      []lynq.HubKey
		want      bool
	}{
		"in none of theirs":           {"evil", []lynq.HubKey{crm, erp}, true},
		"in one of theirs":            {"far", []lynq.HubKey{crm, erp}, false},
		"in one of another hub":       {"far", []lynq.HubKey{erp}, true},
		"one of them has no record":   {"evil", []lynq.HubKey{crm, lost}, false},
		"nobody knows which hubs are": {"evil", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.Apart(tt.namespace, tt.hubs); got != tt.want {
				t.Errorf("%t, want %t", got, tt.want)
			}
		})
	}
}
