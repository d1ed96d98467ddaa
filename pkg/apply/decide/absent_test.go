package decide

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestAbsentForms checks that forms with one name in two namespaces count as two, and
// deleted nodes don't count.
func TestAbsentForms(t *testing.T) {
	of := func(form, formNamespace string, leaving bool) *inventory.Inventory {
		return &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "shop", Name: "crm"}, Form: lynq.FormKey{Namespace: formNamespace, Name: form}, Namespace: "shop"}, Deleting: leaving}
	}
	in := &Input{
		Desired:  Desired{Forms: []lynq.FormKey{{Namespace: "shop", Name: "web"}}},
		Recorded: Recorded{Inventories: []*inventory.Inventory{of("web", "", false), of("web", "shop", false), of("web", "far", false), of("db", "", false), of("db", "", false), of("old", "", true)}},
	}
	want := []inventory.AbsentForm{{Form: lynq.FormKey{Namespace: "shop", Name: "db"}, Nodes: 2}, {Form: lynq.FormKey{Namespace: "far", Name: "web"}, Nodes: 1}}
	if diff := cmp.Diff(want, in.AbsentForms()); diff != "" {
		t.Error(diff)
	}
	in.Desired.Forms = []lynq.FormKey{{Namespace: "elsewhere", Name: "web"}} // old inventories don't say the form's namespace
	in.Recorded.Inventories = in.Recorded.Inventories[:1]
	if got := in.AbsentForms(); got != nil {
		t.Errorf("got %v", got)
	}
}
