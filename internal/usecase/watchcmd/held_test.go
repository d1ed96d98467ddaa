package watchcmd

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// goingPlan returns a plan that deletes nodes, as far as guards allow it.
func goingPlan(nodes ...string) plan.Plan {
	in := &decide.Input{Hub: lynq.HubKey{Namespace: "shop", Name: "crm"}, Desired: decide.Desired{Active: 1, Forms: []lynq.FormKey{{Name: "web"}}}}
	for _, name := range nodes {
		in.Recorded.Inventories = append(in.Recorded.Inventories, &inventory.Inventory{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "shop", Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: name, Namespace: "shop", Name: name}})
	}
	in.Desired.Nodes = []*plan.Node{{NodeID: lynq.NodeID{Hub: lynq.HubKey{Namespace: "shop", Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: "stays", Namespace: "shop", Name: "stays"}}}
	return *decide.Decide(in, decide.Limits{})
}

func TestHoldDeletions(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	earlier := now.Add(-time.Hour)
	refused := goingPlan("a", "b")
	digest := decide.Hold([]plan.Plan{refused}, refused.Hub, refused.Refusals)[0].Held.Digest
	stones := plan.Plan{Hub: refused.Hub, After: true}
	held := &inventory.HeldDeletions{
		Guard: "max-delete", Message: "2 of 2 nodes would be deleted (a, b), the limit is 0 (--max-delete=0)", Digest: digest, Since: now, Nodes: []string{"shop/a", "shop/b"},
	}
	since := func(at time.Time) *inventory.HeldDeletions {
		h := *held
		h.Since = at
		return &h
	}
	operated := goingPlan("a")
	operated.Refusals = append(operated.Refusals, plan.Refusal{Guard: plan.GuardOperator})
	for name, tt := range map[string]struct {
		plans    []plan.Plan
		record   *inventory.Hub
		nodes    []int // of the plans that the round carries out
		refused  bool
		held     *inventory.HeldDeletions
		approved bool
	}{
		"nothing is refused":          {plans: []plan.Plan{goingPlan(), stones}, record: &inventory.Hub{}, nodes: []int{1, 0}},
		"refused":                     {plans: []plan.Plan{refused, stones}, record: &inventory.Hub{}, nodes: []int{1}, held: held},
		"without a record":            {plans: []plan.Plan{refused}, nodes: []int{1}, held: held},
		"held already":                {plans: []plan.Plan{refused}, record: &inventory.Hub{Held: &inventory.HeldDeletions{Guard: "max-delete", Since: earlier}}, nodes: []int{1}, held: since(earlier)},
		"held by another guard":       {plans: []plan.Plan{refused}, record: &inventory.Hub{Held: &inventory.HeldDeletions{Guard: "allow-empty", Since: earlier}}, nodes: []int{1}, held: held},
		"approved":                    {plans: []plan.Plan{refused, stones}, record: &inventory.Hub{Approved: digest}, nodes: []int{3}, approved: true},
		"others are approved":         {plans: []plan.Plan{refused, stones}, record: &inventory.Hub{Approved: "d"}, nodes: []int{1}, held: held},
		"refused for more than that":  {plans: []plan.Plan{operated, stones}, record: &inventory.Hub{Approved: digest}, nodes: []int{2, 0}, refused: true},
		"nothing left that is due":    {plans: []plan.Plan{goingPlan()}, record: &inventory.Hub{Approved: digest}, nodes: []int{1}},
		"without a plan, without end": {},
	} {
		t.Run(name, func(t *testing.T) {
			run, got, approved := holdDeletions(tt.plans, refused.Hub, tt.record, now.Add(time.Millisecond))
			var nodes []int
			refusals := 0
			for _, p := range run {
				nodes = append(nodes, len(p.Nodes))
				refusals += len(p.Refusals)
			}
			if !slices.Equal(nodes, tt.nodes) || refusals > 0 != tt.refused || approved != tt.approved {
				t.Errorf("%s: plans of %v nodes, %d refusals, approved: %t", name, nodes, refusals, approved)
			}
			if diff := cmp.Diff(tt.held, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		})
	}
	if len(refused.Refusals) != 1 || len(refused.Nodes) != 3 {
		t.Errorf("the plan itself changed: %+v", refused)
	}
}

// recorder keeps events.
type recorder struct{ events []report.KubernetesEvent }

func (r *recorder) Record(_ context.Context, e report.KubernetesEvent) {
	r.events = append(r.events, e)
}
func (*recorder) Flush(context.Context) {}

// TestTellHeld wants one event for held deletions, until others are held.
func TestTellHeld(t *testing.T) {
	d1 := &inventory.HeldDeletions{Guard: "max-delete", Message: "2 of 3 nodes would go", Digest: "d1", Nodes: []string{"shop/a", "shop/b"}, Partly: []string{"shop/c"}, Deleted: 3, Orphaned: 1}
	for name, tt := range map[string]struct {
		record   inventory.Hub
		held     *inventory.HeldDeletions
		approved bool
		want     string
	}{
		"nothing":           {record: inventory.Hub{UID: "u"}},
		"no more":           {record: inventory.Hub{UID: "u", Held: d1}},
		"held":              {record: inventory.Hub{UID: "u"}, held: d1, want: "Warning DeletionsHeld max-delete: 2 of 3 nodes would go (2 nodes would go, 1 node would lose objects, 3 objects to delete, 1 to orphan; to approve them, run lynqctl watch approve crm -n shop)"},
		"still held":        {record: inventory.Hub{UID: "u", Held: d1}, held: d1},
		"others are held":   {record: inventory.Hub{UID: "u", Held: &inventory.HeldDeletions{Digest: "d0"}}, held: &inventory.HeldDeletions{Guard: "allow-empty", Message: "m", Digest: "d2"}, want: "Warning DeletionsHeld allow-empty: m (0 nodes would go, 0 objects to delete; to approve them, run lynqctl watch approve crm -n shop)"},
		"approved":          {record: inventory.Hub{UID: "u", Held: d1, Approved: "d1"}, approved: true, want: "Normal DeletionsApproved a person approved the deletions d1: they are carried out"},
		"nowhere to say it": {held: d1},
	} {
		t.Run(name, func(t *testing.T) {
			tt.record.Namespace, tt.record.Name = "shop", "crm"
			var r recorder
			tellHeld(t.Context(), &r, &tt.record, tt.held, tt.approved, time.Now())
			got := ""
			for _, e := range r.events {
				got += e.Type + " " + e.Reason + " " + e.Message
				if e.Namespace != "shop" || e.Inventory != "lynqhub-crm" || e.UID != "u" {
					t.Errorf("%s: %+v", name, e)
				}
			}
			if got != tt.want {
				t.Errorf("%s: got  %s\nwant %s", name, got, tt.want)
			}
		})
	}
}
