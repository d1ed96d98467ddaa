package ui

import (
	"errors"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Words for how a node is that are no outcomes.
const (
	statusDeleted = "deleted"  // it was to go, and is gone
	statusNotDone = "not-done" // the run ended before its turn
)

// nodeResult is what the report says of a node.
type nodeResult struct {
	apply.NodeKey
	hub       lynq.HubKey
	form, uid string
	objects   int // that it has, or had if it goes
	changed   int // objects that were written or deleted
	ready     int // objects that are known to be ready
	outcome   apply.Outcome
	status    string // the outcome, or a word for what is none
	problems  []string
	unknown   bool         // it is left as it is for what could not be looked at
	steps     []stepResult // all but those that keep
}

// stepResult is a step, and how it ended where it was carried out.
type stepResult struct {
	object  lynq.Ref
	id      string
	action  apply.Action
	reason  apply.Reason
	outcome apply.Outcome
	message string
	adopted bool
}

// shown: the node changed or did not end well.
func (n *nodeResult) shown() bool {
	return n.changed > 0 || n.status != string(apply.OutcomeDone) && n.status != string(apply.OutcomeUnchanged)
}

// bad tells whether something ended otherwise than it should have.
func bad(o apply.Outcome) bool {
	return o == apply.OutcomeFailed || o == apply.OutcomeConflicted || o == apply.OutcomeNotReady
}

func (n *nodeResult) bad() bool { return bad(n.outcome) }

// results join plans and what was told of their nodes, in the order of the
// nodes' namespaces and names.
func results(plans []apply.Plan, r *record) []nodeResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	failed := map[apply.NodeKey]*apply.FailedNode{}
	if r.summary != nil {
		for i := range r.summary.Failed {
			failed[r.summary.Failed[i].NodeKey] = &r.summary.Failed[i]
		}
	}
	var all []nodeResult
	for i := range plans {
		for j := range plans[i].Nodes {
			plan := &plans[i].Nodes[j]
			told := r.nodes[plan.NodeKey]
			if told == nil {
				told = &nodeRecord{}
			}
			n := nodeResult{NodeKey: plan.NodeKey, hub: plans[i].Hub, form: plan.Form, uid: plan.UID}
			n.count(plan, told)
			n.judge(plan, told)
			n.explain(plan, told, failed[plan.NodeKey])
			all = append(all, n)
		}
	}
	slices.SortStableFunc(all, func(a, b nodeResult) int { return compareNodes(a.NodeKey, b.NodeKey) })
	return all
}

// count takes the steps, and counts objects.
func (n *nodeResult) count(plan *apply.NodePlan, told *nodeRecord) {
	for i := range plan.Steps {
		step := &plan.Steps[i]
		ref := refOf(step)
		done := told.objects[ref]
		if step.Object != nil || plan.Desired == nil {
			n.objects++
		}
		if told.ready[ref] || step.Action == apply.ActionKeep && step.Record != nil && step.Record.Ready {
			n.ready++
		}
		if changes(step.Action) && (done.outcome == apply.OutcomeDone || done.outcome == apply.OutcomeNotReady) {
			n.changed++
		}
		if step.Action == apply.ActionKeep && done.outcome == "" {
			continue
		}
		s := stepResult{object: ref, id: idOf(step), action: step.Action, reason: step.Reason, outcome: done.outcome, message: step.Message, adopted: step.Adopted}
		if done.message != "" {
			s.message = done.message
		}
		n.steps = append(n.steps, s)
	}
}

// judge finds how the node ended. One that nothing was told of had nothing to
// do, or its turn did not come.
func (n *nodeResult) judge(plan *apply.NodePlan, told *nodeRecord) {
	n.outcome = told.outcome
	n.status = string(told.outcome)
	switch {
	case told.outcome == apply.OutcomeDone && plan.Desired == nil && !leavesAlone(plan):
		n.status = statusDeleted
	case told.outcome != "":
	case plan.Desired != nil && plan.Desired.Failed != nil:
		n.outcome = apply.OutcomeFailed
		n.status = string(n.outcome)
	case hasWork(plan):
		n.status = statusNotDone
	default:
		n.outcome = apply.OutcomeUnchanged
		n.status = string(n.outcome)
	}
}

// explain takes the fullest account there is of what went wrong.
func (n *nodeResult) explain(plan *apply.NodePlan, told *nodeRecord, failed *apply.FailedNode) {
	var problems []string
	switch {
	case failed != nil && len(failed.Problems) > 0:
		problems = failed.Problems
	case told.message != "":
		problems = strings.Split(strings.TrimSpace(told.message), "\n")
	case plan.Desired != nil && plan.Desired.Failed != nil:
		problems = strings.Split(strings.TrimSpace(plan.Desired.Failed.Error()), "\n")
	}
	for _, p := range problems {
		n.problems = append(n.problems, safe(p))
	}
	unknown := (*apply.UnknownError)(nil)
	n.unknown = plan.Desired != nil && errors.As(plan.Desired.Failed, &unknown)
}

// briefly says what many nodes share once: those after the first of them name
// that one.
func briefly(nodes []nodeResult) []nodeResult {
	first := map[string]string{} // nodes, by their problems
	brief := slices.Clone(nodes)
	for i := range brief {
		n := &brief[i]
		if !n.unknown {
			continue
		}
		why := strings.Join(n.problems, "\n")
		if named, told := first[why]; told {
			n.problems = []string{"as " + named}
		} else {
			first[why] = safe(n.Name)
		}
	}
	return brief
}

// leavesAlone tells whether a node that goes has an object that is left alone, so
// that its record stays.
func leavesAlone(plan *apply.NodePlan) bool {
	return slices.ContainsFunc(plan.Steps, func(s apply.Step) bool { return s.Action == apply.ActionSkip })
}

func hasWork(plan *apply.NodePlan) bool {
	return slices.ContainsFunc(plan.Steps, func(s apply.Step) bool { return changes(s.Action) || s.Action == apply.ActionBlock })
}

func refOf(s *apply.Step) lynq.Ref {
	switch {
	case s.Object != nil:
		return s.Object.Ref
	case s.Record != nil:
		return s.Record.Ref
	case s.Live != nil:
		return s.Live.Ref
	}
	return lynq.Ref{}
}

func idOf(s *apply.Step) string {
	switch {
	case s.Object != nil:
		return s.Object.ID
	case s.Record != nil:
		return s.Record.ID
	case s.Live != nil:
		return s.Live.ResourceID
	}
	return ""
}
