package apply

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestStatusOfLeftOut checks that a narrowed run keeps what the last run recorded of an
// object that it leaves out, and replaces the rest.
func TestStatusOfLeftOut(t *testing.T) {
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	of := func(id, why string) inventory.ObjectStatus {
		return inventory.ObjectStatus{ID: id, RefFields: lynq.RefFields{Kind: "ConfigMap", Namespace: "ns", Name: id}, Reason: why, Message: "as recorded", Since: since}
	}
	leftOut, fine, healed, broken := wanted("left-out", 0), wanted("fine", 0), wanted("healed", 0), wanted("broken", 0)
	leftOut.Action, leftOut.Reason = plan.ActionKeep, plan.ReasonLeftOut
	fine.Action, fine.Reason = plan.ActionKeep, plan.ReasonLeftOut
	before := &inventory.Inventory{Status: inventory.Status{Objects: []inventory.ObjectStatus{of("left-out", inventory.ObjectNotReady), of("healed", inventory.ObjectFailed), of("dropped", inventory.ObjectFailed)}}}
	for name, tt := range map[string]struct {
		before *inventory.Inventory
		want   []string
	}{
		"recorded":     {before, []string{"left-out NotReady as recorded", "broken Failed refused"}},
		"no inventory": {nil, []string{"broken Failed refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			var all Steps
			all.Set(&plan.NodePlan{NodeID: lynq.NodeID{Name: "n"}, Steps: []plan.Step{leftOut, fine, healed, broken}}, false)
			all.Of[2].Outcome, all.Of[3].Outcome, all.Of[3].Says = report.OutcomeDone, report.OutcomeFailed, "refused"
			n := &nodeStatus{steps: &all, before: tt.before, now: since.Add(time.Hour)}
			var got []string
			for _, o := range n.as(report.OutcomeFailed, nil).Objects {
				got = append(got, o.ID+" "+o.Reason+" "+o.Message)
				if o.ID == "left-out" && !o.Since.Equal(since) {
					t.Errorf("waits since %s", o.Since)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
