package ui

import (
	"errors"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Words for how a node is that are no outcomes.
const (
	statusDeleted = "deleted"  // it was to go, and is gone
	statusNotDone = "not-done" // the run ended before its turn
)

// nodeResult is what the report says of a node.
type nodeResult struct {
	plan.NodeKey
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
	action  plan.Action
	reason  plan.Reason
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
func results(plans []plan.Plan, r *record) []nodeResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	failed := map[plan.NodeKey]*apply.FailedNode{}
	if r.summary != nil {
		for i := range r.summary.Failed {
			failed[r.summary.Failed[i].NodeKey] = &r.summary.Failed[i]
		}
	}
	var all []nodeResult
	for i := range plans {
		for j := range plans[i].Nodes {
			planned := &plans[i].Nodes[j]
			told := r.nodes[planned.NodeKey]
			if told == nil {
				told = &nodeRecord{}
			}
			n := nodeResult{NodeKey: planned.NodeKey, hub: plans[i].Hub, form: planned.Form, uid: planned.UID}
			n.count(planned, told)
			n.judge(planned, told)
			n.explain(planned, told, failed[planned.NodeKey])
			all = append(all, n)
		}
	}
	slices.SortStableFunc(all, func(a, b nodeResult) int { return compareNodes(a.NodeKey, b.NodeKey) })
	return all
}

// count takes the steps, and counts objects.
func (n *nodeResult) count(planned *plan.NodePlan, told *nodeRecord) {
	for i := range planned.Steps {
		step := &planned.Steps[i]
		ref := refOf(step)
		done := told.objects[ref]
		if step.Object != nil || planned.Desired == nil {
			n.objects++
		}
		if told.ready[ref] || step.Action == plan.ActionKeep && step.Entry != nil && step.Entry.Ready {
			n.ready++
		}
		if changes(step.Action) && (done.outcome == apply.OutcomeDone || done.outcome == apply.OutcomeNotReady) {
			n.changed++
		}
		if step.Action == plan.ActionKeep && done.outcome == "" {
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
func (n *nodeResult) judge(planned *plan.NodePlan, told *nodeRecord) {
	n.outcome = told.outcome
	n.status = string(told.outcome)
	switch {
	case told.outcome == apply.OutcomeDone && planned.Desired == nil && !leavesAlone(planned):
		n.status = statusDeleted
	case told.outcome != "":
	case planned.Desired != nil && planned.Desired.Failed != nil:
		n.outcome = apply.OutcomeFailed
		n.status = string(n.outcome)
	case planned.Unmet != "":
		n.outcome = apply.OutcomeSkipped
		n.status = string(n.outcome)
	case hasWork(planned):
		n.status = statusNotDone
	default:
		n.outcome = apply.OutcomeUnchanged
		n.status = string(n.outcome)
	}
}

// explain takes the fullest account there is of what went wrong.
func (n *nodeResult) explain(planned *plan.NodePlan, told *nodeRecord, failed *apply.FailedNode) {
	var problems []string
	switch {
	case failed != nil && len(failed.Problems) > 0:
		problems = failed.Problems
	case told.message != "":
		problems = strings.Split(strings.TrimSpace(told.message), "\n")
	case planned.Desired != nil && planned.Desired.Failed != nil:
		problems = strings.Split(strings.TrimSpace(planned.Desired.Failed.Error()), "\n")
	case planned.Unmet != "":
		problems = []string{planned.Unmet}
	}
	for _, p := range problems {
		n.problems = append(n.problems, safe(p))
	}
	unknown := (*plan.UnknownError)(nil)
	n.unknown = planned.Desired != nil && errors.As(planned.Desired.Failed, &unknown)
}

// briefly says what many nodes share once: those after the first of them name
// that one. Problems of objects are said of a few nodes each.
func briefly(nodes []nodeResult) []nodeResult {
	brief := slices.Clone(nodes)
	count, first := map[string]int{}, map[string]string{} // nodes, by their problems
	for i := range brief {
		count[brief[i].problemsKey()]++
	}
	for i := range brief {
		n := &brief[i]
		why := n.problemsKey()
		if why == "" || !n.unknown && count[why] <= sharedNamed {
			continue
		}
		if named, told := first[why]; told {
			n.problems = []string{"as " + named}
		} else {
			first[why] = safe(n.Name)
		}
	}
	return brief
}

// problemsKey is the same for nodes with which the same is wrong, "" where nothing is.
func (n *nodeResult) problemsKey() string {
	if !n.bad() || len(n.problems) == 0 {
		return ""
	}
	keys := []string{n.status}
	for _, p := range n.problems {
		keys = append(keys, problemKey(n.Name, n.form, p))
	}
	return strings.Join(keys, "\n")
}

// leavesAlone tells whether a node that goes has an object that is left alone, so
// that its record stays.
func leavesAlone(planned *plan.NodePlan) bool {
	return slices.ContainsFunc(planned.Steps, func(s plan.Step) bool { return s.Action == plan.ActionSkip })
}

func hasWork(planned *plan.NodePlan) bool {
	return slices.ContainsFunc(planned.Steps, func(s plan.Step) bool { return changes(s.Action) || s.Action == plan.ActionBlock })
}

func refOf(s *plan.Step) lynq.Ref {
	switch {
	case s.Object != nil:
		return s.Object.Ref
	case s.Entry != nil:
		return s.Entry.Ref
	case s.Live != nil:
		return s.Live.Ref
	}
	return lynq.Ref{}
}

func idOf(s *plan.Step) string {
	switch {
	case s.Object != nil:
		return s.Object.ID
	case s.Entry != nil:
		return s.Entry.ID
	case s.Live != nil:
		return s.Live.ResourceID
	}
	return ""
}
