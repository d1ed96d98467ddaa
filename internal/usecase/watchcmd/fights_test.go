package watchcmd

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestFightEvents wants an event on the inventory of each fight's node, unless the
// inventory is new.
func TestFightEvents(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)
	known, unsaved := lynq.NodeKey{Namespace: "shop", Name: "acme-web"}, lynq.NodeKey{Namespace: "shop", Name: "bolt-web"}
	object := lynq.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "acme"}
	fights := []fight{
		{node: known, object: object, last: `took back .data.plan from "robot"`, muted: 5 * time.Second, at: at},
		{node: unsaved, object: object, muted: 5 * time.Second, at: at},
		{node: known, object: object, muted: time.Minute, at: at},
	}
	plans := []plan.Plan{{}, {Nodes: []plan.NodePlan{{NodeID: lynq.NodeID{Namespace: unsaved.Namespace, Name: unsaved.Name}}, {NodeID: lynq.NodeID{Namespace: known.Namespace, Name: known.Name}, Inventory: &inventory.Inventory{UID: "u"}}}}}
	event := func(message string) report.KubernetesEvent {
		return report.KubernetesEvent{Namespace: "shop", Inventory: "lynqnode-acme-web", UID: "u", Type: "Warning", Reason: "Fight", About: "ConfigMap/shop/acme", Message: message, Time: at}
	}
	want := []report.KubernetesEvent{
		event(`another client changes ConfigMap/shop/acme again and again (took back .data.plan from "robot"): lynqctl ignores its changes for 5s. To leave fields to another client, add them to ignoreFields`),
		event(`another client changes ConfigMap/shop/acme again and again (kubectl get -o yaml --show-managed-fields shows which): lynqctl ignores its changes for 1m0s. To leave fields to another client, add them to ignoreFields`),
	}
	if diff := cmp.Diff(want, fightEvents(fights, plans)); diff != "" {
		t.Error(diff)
	}
}
