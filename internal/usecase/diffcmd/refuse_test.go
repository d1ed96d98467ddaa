package diffcmd

import (
	"fmt"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestRefusalsOf wants a refusal for each hub with a finding, with the hub's own count. Most
// nodes of one hub aren't most nodes of the run.
func TestRefusalsOf(t *testing.T) {
	shop, mail, idle := lynq.HubKey{Namespace: "a", Name: "shop"}, lynq.HubKey{Namespace: "b", Name: "mail"}, lynq.HubKey{Namespace: "c", Name: "idle"}
	var changes []changeset.Change
	deleted := func(hub lynq.HubKey, objects int, found ...changeset.Code) {
		for i := range objects {
			name := fmt.Sprintf("%s%02d", hub.Name, i)
			changes = append(changes, changeset.Change{
				Node: &lynq.NodeID{Hub: hub, Namespace: "a", Name: name}, Ref: lynq.Ref{Kind: "PersistentVolumeClaim", Namespace: "a", Name: name},
				Action: "delete", Words: "delete", Findings: found,
			})
		}
	}
	deleted(shop, 12, changeset.DataLoss)
	deleted(mail, 2, changeset.DataLoss)
	deleted(idle, 3)
	hubs := hubsOf([]plan.Plan{{Hub: shop}, {Hub: mail}, {Hub: idle}, {Hub: shop, After: true}})
	got := refusalsOf(changeset.Of(changes, 100), hubs, []changeset.Code{changeset.DataLoss, changeset.ManySame})
	want := []string{"a/shop data-loss: 12 objects: the object's data is deleted with it", "b/mail data-loss: 2 objects: the object's data is deleted with it"}
	if len(got) != len(want) {
		t.Fatalf("%d refusals: %v", len(got), got)
	}
	for i, r := range got {
		if text := r.Hub.String() + " " + r.What; r.Guard != plan.GuardFailOn || text != want[i] {
			t.Errorf("%s: %s, want %s", r.Guard, text, want[i])
		}
	}
	if Refusing(nil) != nil {
		t.Error("apply would try each write without a flag")
	}
}
