package ui_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// manyNodes returns a plan that updates one object of each of some nodes, and deletes one.
// The first also creates an object, and the second is told something of its own.
func manyNodes(n int) []plan.Plan {
	p := plan.Plan{Hub: crm()}
	for i := range n {
		node := acme
		node.Name = fmt.Sprintf("a%04d-web", i)
		step := func(kind string, a plan.Action, r plan.Reason) plan.Step {
			return plan.Step{Action: a, Reason: r, Object: &plan.Object{ID: strings.ToLower(kind), Ref: ref(kind, node.Name)}}
		}
		steps := []plan.Step{step("ConfigMap", plan.ActionUpdate, plan.ReasonChanged), step("Service", plan.ActionDelete, plan.ReasonRemoved)}
		if i == 0 {
			steps = append(steps, step("Secret", plan.ActionCreate, plan.ReasonNew))
		}
		if i == 1 {
			steps[0].Message = "somebody changed it"
		}
		p.Nodes = append(p.Nodes, plan.NodePlan{NodeID: node, Steps: steps})
	}
	return []plan.Plan{p}
}

// TestPlanOfManyNodes wants one group for each step that many nodes share, and the other
// steps by node. Each step is in a group or below its node, and a plan of 10 000 nodes has
// at most 40 lines.
func TestPlanOfManyNodes(t *testing.T) {
	print := func(n int, format tty.Format) string {
		c := newConsole(ui.Options{Format: format})
		if err := c.Plan(manyNodes(n)); err != nil {
			t.Fatal(err)
		}
		return c.out.String()
	}
	golden(t, "plan-many.txt", print(40, tty.Table))
	if text := print(10_000, tty.Table); strings.Count(text, "\n") > 40 {
		t.Errorf("%d lines:\n%s", strings.Count(text, "\n"), text)
	}
	for n, format := range map[int]tty.Format{9: tty.Table, 40: tty.Wide} {
		text := print(n, format)
		for i := range n {
			if node := fmt.Sprintf("a%04d-web  namespace", i); strings.Count(text, node) != 1 {
				t.Errorf("%d nodes, %s: %q stands there %d times", n, format, node, strings.Count(text, node))
			}
		}
	}
}

// TestPlanFindings wants what a person loses with a plan in front of the question, with its
// counts.
func TestPlanFindings(t *testing.T) {
	entry := func(kind string) *inventory.Entry { return &inventory.Entry{Ref: ref(kind, "a")} }
	role := ref("ClusterRole", "a")
	role.Group = "rbac.authorization.k8s.io"
	plans := []plan.Plan{{Hub: crm(), Nodes: []plan.NodePlan{{NodeID: acme, Steps: []plan.Step{
		{Action: plan.ActionDelete, Entry: entry("PersistentVolumeClaim")},
		{Action: plan.ActionOrphan, Entry: entry("PersistentVolumeClaim")},
		{Action: plan.ActionDelete, Entry: entry("Namespace")},
		{Action: plan.ActionCreate, Object: &plan.Object{Ref: role}},
		{Action: plan.ActionUpdate, Object: &plan.Object{Ref: ref("ConfigMap", "a")}},
	}}}}}
	var out strings.Builder
	if err := ui.PrintPlanFindings(plans, ui.StreamTo(&out, tty.Stream{})); err != nil {
		t.Fatal(err)
	}
	want := `danger  namespace-contents: 1 object: everything in the namespace is deleted with it
danger  data-loss: 2 objects in 1 node: the object's data is deleted with it
danger  rights-grow: 1 object: somebody gets more permissions
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}
