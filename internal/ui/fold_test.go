package ui_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
)

// changed returns an event about an object in a run of many nodes.
func changed(i int, a plan.Action) report.Event {
	node := acme
	node.Name = fmt.Sprintf("a%03d-web", i)
	return report.Event{Type: report.EventObject, NodeID: node, Details: report.Details{Object: ref("ConfigMap", node.Name), Action: a, Outcome: report.OutcomeDone}}
}

// TestChangesOfManyNodesAreCounted wants lines for ten objects of a large run. It wants a
// count of the others every half minute and at the end. Each lost object has its own line.
func TestChangesOfManyNodesAreCounted(t *testing.T) {
	c := newConsole(ui.Options{})
	c.Report(report.Event{Type: report.EventPlan, Nodes: 302})
	for i := range 60 {
		c.Report(changed(i, plan.ActionCreate))
	}
	c.forward(30 * time.Second)
	c.tick()
	for i := range 30 {
		c.Report(changed(i, plan.ActionUpdate))
		c.Report(changed(i, plan.ActionCreate))
		c.Report(changed(i, plan.ActionDelete))
	}
	excluded := changed(0, plan.ActionSkip)
	excluded.Outcome, excluded.Reason = report.OutcomeSkipped, plan.ReasonExcluded
	for range 30 {
		c.Report(excluded)
	}
	c.Report(report.Event{Type: report.EventSummary, Summary: &report.Summary{}})
	c.close(t)
	text := c.err.String()
	for line, want := range map[string]int{
		"  created\n": 10, "  updated\n": 10, "  deleted\n": 30, "  skipped (Excluded)\n": 10,
		"... and 50 more created (-o json lists each object)\n":                                   1,
		"... and 30 more created, 20 more skipped, 20 more updated (-o json lists each object)\n": 1,
	} {
		t.Run(line, func(t *testing.T) {
			if n := strings.Count(text, line); n != want {
				t.Errorf("%d times %q, want %d:\n%s", n, line, want, text)
			}
		})
	}
}

// TestChangesOfFewNodesHaveLines wants a line for each change in a run of few nodes,
// however many changes it has.
func TestChangesOfFewNodesHaveLines(t *testing.T) {
	c := newConsole(ui.Options{})
	c.Report(report.Event{Type: report.EventPlan, Nodes: 20})
	for i := range 100 {
		c.Report(changed(i, plan.ActionCreate))
	}
	c.Report(report.Event{Type: report.EventSummary, Summary: &report.Summary{}})
	c.close(t)
	if n := strings.Count(c.err.String(), "  created\n"); n != 100 {
		t.Errorf("%d lines:\n%s", n, c.err)
	}
}

// TestRowsOfManyNodes wants one row with sums for all nodes that succeed, and one for each
// cause of a failure. If few nodes share a cause, each keeps its row.
func TestRowsOfManyNodes(t *testing.T) {
	_, all := failures(302)
	nodes := all[0].Nodes
	c := newConsole(ui.Options{})
	result := told(all, nil, false)
	for i := range result.Nodes {
		n := &result.Nodes[i]
		switch {
		case i < 200:
			n.Outcome, n.Problems = report.OutcomeDone, nil
			for k := range n.Steps {
				n.Steps[k].Outcome = report.OutcomeDone
			}
		case i < 205:
			n.Problems = report.ProblemsIn("row " + n.UID + " has no port")
		default:
			n.Outcome, n.Problems = report.OutcomeSkipped, report.ProblemsIn("the rollout of form web stopped")
		}
	}
	if err := c.Result(result); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(c.out.String(), "\n")
	for i, want := range []string{"NODE ", "a000-web +199 shop web 400 400 - applied", "a200-web shop web 2 ", "a201-web ", "a202-web ", "a203-web ", "a204-web ", "a205-web +96 shop web 194 ", "+N stands for"} {
		t.Run(want, func(t *testing.T) {
			if line := strings.Join(strings.Fields(got[i]), " ") + " "; !strings.HasPrefix(line, want) {
				t.Errorf("line %d of %d nodes is %q, want %q", i, len(nodes), line, want)
			}
		})
	}
}
