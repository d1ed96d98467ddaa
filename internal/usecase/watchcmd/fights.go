package watchcmd

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// fight is an object that another client changes again and again.
type fight struct {
	node   lynq.NodeKey
	object lynq.Ref
	last   string        // the last fields that lynqctl restored, and from whom; "" if unknown
	muted  time.Duration // how long lynqctl ignores changes of the object
	at     time.Time
}

// String describes the fight for people.
func (f fight) String() string {
	who := cmp.Or(f.last, "kubectl get -o yaml --show-managed-fields shows which")
	return fmt.Sprintf("another client changes %s again and again (%s): lynqctl ignores its changes for %s. To leave fields to another client, add them to ignoreFields", f.object, who, f.muted)
}

// fightEvents returns events about fights on the inventories of their nodes. It skips nodes
// that had no inventory when lynqctl made the plans. It is a pure function.
func fightEvents(fights []fight, plans []plan.Plan) []report.KubernetesEvent {
	uids := map[lynq.NodeKey]string{}
	for i := range plans {
		for k := range plans[i].Nodes {
			if n := &plans[i].Nodes[k]; n.Inventory != nil {
				uids[n.Key()] = n.Inventory.UID
			}
		}
	}
	var events []report.KubernetesEvent
	for _, f := range fights {
		if uid := uids[f.node]; uid != "" {
			events = append(events, report.KubernetesEvent{
				Namespace: f.node.Namespace, Inventory: inventory.Name(f.node.Name), UID: uid,
				Type: "Warning", Reason: "Fight", About: f.object.String(), Message: f.String(), Time: f.at,
			})
		}
	}
	return events
}

// tellFights sends Kubernetes events about the fights of a round with these plans.
func (h *hubWatch) tellFights(ctx context.Context, plans []plan.Plan, recorder report.Recorder) {
	fights := h.nodes.takeFights()
	if !h.o.Events {
		return
	}
	for _, e := range fightEvents(fights, plans) {
		recorder.Record(ctx, e)
	}
	recorder.Flush(ctx)
}
