package plan_test

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestLeaves checks which plans take a node or an object away, so that a run of some rows
// looks at all others.
func TestLeaves(t *testing.T) {
	t.Parallel()
	wanted := func(a plan.Action) plan.Step {
		s := stepOf(a, config())
		s.Object.Policy.PurgeOrder = nil
		return s
	}
	unwanted := func(a plan.Action) plan.Step {
		return plan.Step{Action: a, Entry: &inventory.Entry{Ref: config(), UID: "u1"}}
	}
	deleted := unwanted(plan.ActionDelete)
	deleted.Live = stepOf(plan.ActionDelete, config()).Live
	stays := func(steps ...plan.Step) plan.NodePlan { return plan.NodePlan{Desired: &plan.Node{}, Steps: steps} }
	moves := func(steps ...plan.Step) plan.NodePlan {
		return plan.NodePlan{Next: lynq.NodeKey{Namespace: "shop", Name: "acme-web"}, Steps: steps}
	}
	for name, tt := range map[string]struct {
		nodes []plan.NodePlan
		want  bool
	}{
		"no node":                              {nil, false},
		"a node without objects":               {[]plan.NodePlan{stays()}, false},
		"an object that stays":                 {[]plan.NodePlan{stays(wanted(plan.ActionKeep))}, false},
		"an object that is updated":            {[]plan.NodePlan{stays(wanted(plan.ActionUpdate))}, false},
		"an object that is recreated":          {[]plan.NodePlan{stays(wanted(plan.ActionRecreate))}, true},
		"an object that is deleted":            {[]plan.NodePlan{stays(wanted(plan.ActionKeep), deleted)}, true},
		"an object that is already gone":       {[]plan.NodePlan{stays(unwanted(plan.ActionDelete))}, false},
		"an object that becomes an orphan":     {[]plan.NodePlan{stays(wanted(plan.ActionKeep), unwanted(plan.ActionOrphan))}, true},
		"an orphan that the form has":          {[]plan.NodePlan{stays(wanted(plan.ActionOrphan))}, false},
		"an object that is only forgotten":     {[]plan.NodePlan{stays(unwanted(plan.ActionRelease))}, false},
		"an object that is left alone":         {[]plan.NodePlan{stays(unwanted(plan.ActionSkip))}, false},
		"a deleted node without objects":       {[]plan.NodePlan{{}}, true},
		"the second node is deleted":           {[]plan.NodePlan{stays(), {}}, true},
		"a node that moves":                    {[]plan.NodePlan{moves(unwanted(plan.ActionRelease))}, false},
		"a node that moves without an object":  {[]plan.NodePlan{moves(unwanted(plan.ActionOrphan))}, true},
		"a node that moves and loses a volume": {[]plan.NodePlan{moves(deleted)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := plan.Leaves([]plan.Plan{{}, {Nodes: tt.nodes}}); got != tt.want {
				t.Errorf("%s: it leaves: %t", name, got)
			}
		})
	}
}
