package inventory

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestNamespaces checks in which namespaces inventories count.
func TestNamespaces(t *testing.T) {
	hub := lynq.HubKey{Namespace: "home", Name: "crm"}
	inventories := []*Inventory{{Node: lynq.NodeID{Namespace: "old", Name: "a"}}, {Node: lynq.NodeID{Namespace: "new", Name: "b"}}, {Node: lynq.NodeID{Namespace: "home", Name: "c"}}}
	for name, tt := range map[string]struct {
		record *Hub
		want   string
	}{
		"no record":         {nil, "form home"},
		"a new record":      {&Hub{Namespaces: []string{"x"}}, "form home"}, // not from the cluster
		"a record":          {&Hub{UID: "1", Namespaces: []string{"eu"}}, "eu form home"},
		"a record of today": {&Hub{UID: "1"}, "form home"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Namespaces(hub, tt.record, []string{"form"})
			if text := strings.Join(slices.Sorted(maps.Keys(got)), " "); text != tt.want {
				t.Errorf("%s, want %s", text, tt.want)
			}
		})
	}
	broken := []*UnreadableError{{Node: lynq.NodeID{Namespace: "eu"}, Name: "lynqnode-x"}, {Node: lynq.NodeID{Namespace: "home"}, Name: "lynqnode-y"}}
	kept, unread, others := Within(map[string]bool{"home": true}, inventories, broken)
	if len(kept) != 1 || kept[0].Node.Name != "c" || len(unread) != 1 || unread[0].Name != "lynqnode-y" || strings.Join(others, " ") != "eu/lynqnode-x new/lynqnode-b old/lynqnode-a" {
		t.Errorf("%v %v %v", kept, unread, others)
	}
}
