package ui_test

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// told is the result of a run of plans of which these events tell.
func told(plans []plan.Plan, events []apply.Event, dryRun bool) *apply.Result {
	r := apply.Planned(plans)
	r.Summary = &apply.Summary{}
	nodes := map[lynq.NodeKey]*apply.NodeResult{}
	for i := range r.Nodes {
		nodes[r.Nodes[i].Key()] = &r.Nodes[i]
	}
	for i := range events {
		e, n := &events[i], nodes[events[i].Key()]
		switch e.Type {
		case apply.EventObject:
			s := step(n, e.Object)
			s.Outcome, s.Message = e.Outcome, e.Message
		case apply.EventReady:
			step(n, e.Object).Ready = true
		case apply.EventNode:
			n.Outcome, n.Reason = e.Outcome, e.Reason
			if len(n.Problems) == 0 && e.Message != "" {
				n.Problems = strings.Split(strings.TrimSpace(e.Message), "\n")
			}
		case apply.EventSummary:
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

func step(n *apply.NodeResult, of lynq.Ref) *apply.StepResult {
	for i := range n.Steps {
		if n.Steps[i].Step.Ref() == of {
			return &n.Steps[i]
		}
	}
	return &apply.StepResult{}
}

// result has the reporter print the result of what it was told.
func (c *console) result(plans []plan.Plan) error {
	return c.Result(told(plans, c.events, false))
}

// tried is result for a dry run.
func (c *console) tried(plans []plan.Plan) error {
	return c.Result(told(plans, c.events, true))
}

// Report keeps what the reporter is told.
func (c *console) Report(e apply.Event) {
	c.told.Lock()
	c.events = append(c.events, e)
	c.told.Unlock()
	c.Reporter.Report(e)
}
