package ui_test

import (
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// told returns the result of a run with these plans and events.
func told(plans []plan.Plan, events []report.Event, dryRun bool) *report.Result {
	r := report.Planned(plans)
	r.Summary = &report.Summary{}
	nodes := map[lynq.NodeKey]*report.NodeResult{}
	for i := range r.Nodes {
		nodes[r.Nodes[i].Key()] = &r.Nodes[i]
	}
	for i := range events {
		e, n := &events[i], nodes[events[i].Key()]
		switch e.Type {
		case report.EventObject:
			s := step(n, e.Object)
			s.Outcome, s.Says = e.Outcome, e.Message
		case report.EventReady:
			step(n, e.Object).Ready = true
		case report.EventNode:
			n.Outcome, n.Reason = e.Outcome, e.Reason
			if len(n.Problems) == 0 && e.Message != "" {
				n.Problems = report.ProblemsIn(e.Message)
			}
		case report.EventSummary:
			r.Summary = e.Summary
			for _, f := range e.Summary.Failed {
				nodes[f.Key()].Problems = f.Problems
			}
		}
	}
	sum := *r.Summary
	sum.DryRun = dryRun
	r.Summary = &sum
	return r
}

func step(n *report.NodeResult, of lynq.Ref) *report.StepResult {
	for i := range n.Steps {
		if n.Steps[i].Ref() == of {
			return &n.Steps[i]
		}
	}
	return &report.StepResult{Step: &plan.Step{}}
}

// result makes the reporter print the result of its events.
func (c *console) result(plans []plan.Plan) error {
	return c.Result(told(plans, c.events, false))
}

// tried works like result, for a dry run.
func (c *console) tried(plans []plan.Plan) error {
	return c.Result(told(plans, c.events, true))
}

// Report keeps the events.
func (c *console) Report(e report.Event) {
	c.told.Lock()
	c.events = append(c.events, e)
	c.told.Unlock()
	c.Reporter.Report(e)
}
