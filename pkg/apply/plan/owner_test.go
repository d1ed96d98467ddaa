package plan

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestHubOfObject compares the hub that an object names with that of a node's inventory,
// which anybody who may write ConfigMaps can change.
func TestHubOfObject(t *testing.T) {
	node := lynq.NodeKey{Namespace: "shop", Name: "acme-web"}
	owned := func(l *tracking.Live) { l.Owners, l.Node, l.NodeNamespace = []types.UID{"record"}, "", "" }
	anothers := func(l *tracking.Live) { l.Node, l.PartOf = "bolt-web", "applyset-bolt" }
	for name, tt := range map[string]struct {
		hub                lynq.HubKey
		namespace          string // the object's
		label              string // its label for the hub's namespace
		change             func(*tracking.Live)
		tracks, relabelled bool
		other              string // as OtherHub says
	}{
		"the hub is in another namespace":         {hub: lynq.HubKey{Namespace: "hubs", Name: "crm"}, namespace: "far", label: "hubs", tracks: true},
		"another hub of the name":                 {hub: lynq.HubKey{Namespace: "evil", Name: "crm"}, namespace: "far", label: "hubs", relabelled: true, other: "hubs/crm"},
		"another hub, of an object without label": {hub: lynq.HubKey{Namespace: "evil", Name: "crm"}, namespace: "far", relabelled: true},
		"another hub, in the node's namespace":    {hub: lynq.HubKey{Namespace: "shop", Name: "crm"}, namespace: "far", label: "hubs", relabelled: true, other: "hubs/crm"},
		"the hub is in the node's namespace":      {hub: lynq.HubKey{Namespace: "shop", Name: "crm"}, namespace: "far", tracks: true},
		"the inventory names no namespace":        {hub: lynq.HubKey{Name: "crm"}, namespace: "far", tracks: true},
		"an object without a namespace":           {hub: lynq.HubKey{Namespace: "evil", Name: "crm"}, label: "hubs", relabelled: true, other: "hubs/crm"},
		"an object in the node's namespace":       {hub: lynq.HubKey{Namespace: "evil", Name: "crm"}, namespace: "shop", label: "hubs", tracks: true},
		"another name":                            {hub: lynq.HubKey{Namespace: "shop", Name: "erp"}, namespace: "far", other: "shop/crm"},
		"another name, owned":                     {hub: lynq.HubKey{Namespace: "shop", Name: "erp"}, namespace: "shop", change: owned, relabelled: true},
		"another name, of a hub elsewhere":        {hub: lynq.HubKey{Namespace: "shop", Name: "erp"}, namespace: "far", label: "hubs", other: "hubs/crm"},
		"another node's":                          {hub: lynq.HubKey{Namespace: "evil", Name: "crm"}, namespace: "far", label: "hubs", change: anothers},
		"without labels of a hub":                 {hub: lynq.HubKey{Namespace: "evil", Name: "crm"}, namespace: "far", change: func(l *tracking.Live) { l.Hub = "" }},
		"owned":                                   {hub: lynq.HubKey{Namespace: "hubs", Name: "crm"}, namespace: "shop", change: owned, tracks: true},
	} {
		t.Run(name, func(t *testing.T) {
			inv := &inventory.Inventory{}
			inv.UID = "record"
			me := NewOwner(node, tt.hub, inv)
			l := &tracking.Live{Ref: lynq.Ref{Kind: "Secret", Namespace: tt.namespace, Name: "s"}, Hub: "crm", HubNamespace: tt.label, Node: node.Name, NodeNamespace: node.Namespace, PartOf: me.PartOf}
			if tt.change != nil {
				tt.change(l)
			}
			if me.Tracks(l) != tt.tracks || me.Relabelled(l) != tt.relabelled {
				t.Errorf("tracks %t, relabelled %t", me.Tracks(l), me.Relabelled(l))
			}
			if got := me.OtherHub(l); got != tt.other {
				t.Errorf("it is hub %q's, want %q", got, tt.other)
			}
		})
	}
}
