package plan_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestTrackedHub checks that an object has its tracking only with the right label for the
// namespace of its hub, and none if it is owned.
func TestTrackedHub(t *testing.T) {
	t.Parallel()
	node, inv := lynq.NodeKey{Namespace: "shop", Name: "acme-web"}, &inventory.Inventory{UID: "i1"}
	for name, tt := range map[string]struct {
		hub             lynq.HubKey
		label           string // the object's label for the hub's namespace
		owned, labelled bool   // whether it is tracked so
	}{
		"here, without a label":       {lynq.HubKey{Namespace: "shop", Name: "crm"}, "", true, true},
		"here, with its label":        {lynq.HubKey{Namespace: "shop", Name: "crm"}, "shop", false, true},
		"here, with another's label":  {lynq.HubKey{Namespace: "shop", Name: "crm"}, "hubs", false, false},
		"there, with its label":       {lynq.HubKey{Namespace: "hubs", Name: "crm"}, "hubs", false, true},
		"there, without a label":      {lynq.HubKey{Namespace: "hubs", Name: "crm"}, "", true, false},
		"there, with another's label": {lynq.HubKey{Namespace: "hubs", Name: "crm"}, "evil", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			me := plan.NewOwner(node, tt.hub, inv)
			owned := &tracking.Live{Hub: "crm", PartOf: me.PartOf, HubNamespace: tt.label, Owners: []types.UID{"i1"}}
			if got := me.Tracked(&plan.Object{Owned: true}, owned); got != tt.owned {
				t.Errorf("%s: it is tracked as owned: %t", name, got)
			}
			labelled := &tracking.Live{Hub: "crm", PartOf: me.PartOf, HubNamespace: tt.label, Node: "acme-web", NodeNamespace: "shop"}
			if got := me.Tracked(&plan.Object{}, labelled); got != tt.labelled {
				t.Errorf("%s: it is tracked as labelled: %t", name, got)
			}
			owned.Node = "acme-web"
			if me.Tracked(&plan.Object{Owned: true}, owned) {
				t.Errorf("%s: it is tracked as owned, although a label names its node", name)
			}
		})
	}
}
