package report

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/schedule"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Result is the result of a run. Exit codes, reports, metrics and records read nothing
// else.
type Result struct {
	// Nodes are all nodes of the plans, in their order.
	Nodes []NodeResult
	// Summary sums up the nodes.
	Summary *Summary
}

// NodeResult is the result of a node.
type NodeResult struct {
	lynq.NodeID
	// Outcome is "" if no run executed the node's plan.
	Outcome Outcome
	Reason  plan.Reason // why it failed, if there is a word for it
	// Problems say what is wrong with the node and its objects, and how to fix it.
	Problems []Details
	// Next is the command that shows more of the node, or "".
	Next string
	// Leaves is set if no row renders the node.
	Leaves bool
	Steps  []StepResult

	planned *plan.NodePlan
	// Settled is set if no entry of its inventory depends on the version of lynqctl.
	Settled bool
	Unready bool // the run didn't see an awaited object become ready
	Stopped bool // its rollout gave it no turn
	Waits   bool // its turn is in a later run, as a person requested
}

// StepResult is the result of a step. It has the step as decided last, and the plan has it
// as decided first.
type StepResult struct {
	*plan.Step
	Outcome     Outcome // "" if no run executed it
	Says        string  // the reason for the outcome, for people, and may say what to do
	Ready       bool    // the object is ready, as far as lynqctl knows
	Ended       bool    // a run saw its work complete
	Interrupted bool    // the run ended before the step did
}

// Acted reports whether the run carried the step's action out. An object that wasn't ready in
// time was written, too.
func (s *StepResult) Acted() bool {
	if s.Outcome == OutcomeNotReady {
		switch s.Action {
		case plan.ActionCreate, plan.ActionAdopt, plan.ActionUpdate, plan.ActionRecreate:
			return true
		}
	}
	return s.Outcome == OutcomeDone
}

// Details returns what a report says of the step.
func (s *StepResult) Details() Details {
	return Details{
		Object: s.Ref(), ID: s.ID(), Action: s.Action, Reason: s.Reason, Cause: s.Cause,
		Outcome: s.Outcome, Message: s.Says, Adopted: s.Adopted, Interrupted: s.Interrupted,
	}
}

// Event returns the event of a step.
func (s *StepResult) Event() Event {
	return Event{Type: EventObject, Details: s.Details(), Conflict: s.ConflictPolicy()}
}

// Well reports whether the outcome is no failure.
func (o Outcome) Well() bool { return Severity(o) <= Severity(OutcomeDone) }

// End returns the outcome for the nodes that wait for this one.
func (o Outcome) End() schedule.End {
	return schedule.End{
		Word: strings.ReplaceAll(string(o), "-", " "), Well: o.Well(), Written: o == OutcomeDone || o == OutcomeUnchanged || o == OutcomeNotReady, Interrupted: o == OutcomeInterrupted,
	}
}

// Severity orders outcomes. A node has the worst outcome of its objects.
func Severity(o Outcome) int {
	switch o {
	case OutcomeFailed:
		return 6
	case OutcomeConflicted:
		return 5
	case OutcomeNotReady:
		return 4
	case OutcomeInterrupted:
		return 3
	case OutcomeSkipped:
		return 2
	case OutcomeDone:
		return 1
	}
	return 0
}

// Planned returns the result of plans that no run executes.
func Planned(plans []plan.Plan) *Result {
	r := &Result{Nodes: ResultsOf(plans), Summary: &Summary{DryRun: true, Actions: map[plan.Action]int{}, Adopted: map[plan.Action]int{}}}
	for i := range r.Nodes {
		r.Nodes[i].plan()
	}
	for i := range plans {
		r.Summary.Hubs = append(r.Summary.Hubs, plans[i].Hub)
		r.Summary.Leaving += len(plans[i].Leaving)
		for action, n := range plans[i].Counts {
			r.Summary.Actions[action] += n
		}
		for action, n := range plans[i].Adopted {
			r.Summary.Adopted[action] += n
		}
	}
	r.Summary.fail(r.Nodes)
	return r
}

// ResultsOf returns the results of all nodes before a run.
func ResultsOf(plans []plan.Plan) []NodeResult {
	count := 0
	for i := range plans {
		count += len(plans[i].Nodes)
	}
	all := make([]NodeResult, 0, count)
	for i := range plans {
		for j := range plans[i].Nodes {
			p := &plans[i].Nodes[j]
			id := p.NodeID
			id.Hub = plans[i].Hub // an inventory may lack the hub
			all = append(all, NodeResult{NodeID: id, Leaves: p.Desired == nil, Waits: p.Suspended, planned: p})
		}
	}
	return all
}

// plan sets the outcome of a node as far as its plan determines it.
func (n *NodeResult) plan() {
	p, idle := n.planned, true
	for i := range p.Steps {
		s := &p.Steps[i]
		n.Steps = append(n.Steps, StepResult{Step: s, Says: s.Message, Ready: KeptReady(s)})
		idle = idle && (s.Action == plan.ActionKeep || s.Action == plan.ActionSkip)
	}
	switch {
	case p.Desired != nil && p.Desired.Failed != nil:
		n.Outcome, n.Reason, n.Problems = OutcomeFailed, ReasonFor(p.Desired.Failed), ProblemsIn(p.Desired.Failed.Error())
		if len(n.Problems) == 1 {
			n.Problems[0].Shared = FailureOf(p.Desired.Failed).Shared
		}
	case p.Unmet != "":
		n.Outcome, n.Problems = OutcomeSkipped, []Details{{Message: p.Unmet}}
		if p.Suspended {
			n.Reason = plan.ReasonSuspended
		}
	case idle:
		n.Outcome = OutcomeUnchanged
	}
}

// Unrendered says why the node failed to render, without values of its row. It returns ""
// if the node rendered.
func (n *NodeResult) Unrendered() string {
	if n.planned == nil || n.planned.Desired == nil {
		return ""
	}
	if why := (*plan.RenderError)(nil); errors.As(n.planned.Desired.Failed, &why) {
		return why.Masked
	}
	return ""
}

// ReasonFor returns the word for a node's failure, or "".
func ReasonFor(err error) plan.Reason {
	if unknown := (*plan.UnknownError)(nil); errors.As(err, &unknown) {
		return plan.ReasonUnknown
	}
	return ""
}

// KeptReady reports whether a step keeps an object that is recorded as ready.
func KeptReady(s *plan.Step) bool {
	return s.Action == plan.ActionKeep && s.Entry != nil && s.Entry.Ready
}

// LeavesAlone reports whether lynqctl leaves an object of the node alone. Then the
// inventory of a deleted node is kept.
func (n *NodeResult) LeavesAlone() bool {
	return slices.ContainsFunc(n.Steps, func(s StepResult) bool { return s.Action == plan.ActionSkip })
}

// Moves reports whether the node continues as another node.
func (n *NodeResult) Moves() bool { return n.planned != nil && n.planned.Moves() }

// Summary counts the nodes and objects of a run by outcome.
type Summary struct {
	Hubs []lynq.HubKey
	// Nodes and Objects are counts by outcome. Actions counts the objects by action.
	Nodes   map[Outcome]int
	Objects map[Outcome]int
	Actions map[plan.Action]int
	// Adopted counts the adopted objects among those that left the nodes.
	Adopted map[plan.Action]int
	// Failed lists the nodes that failed, sorted by name. Each says what to do next.
	Failed []NodeResult
	// Unready lists the unchanged objects that aren't as they should be, by node. A run fails
	// with those that aren't ready, if it waits for readiness.
	Unready []Unready
	Waits   bool
	// Sighted has each hub's notes of ready objects for the next run.
	Sighted map[lynq.HubKey]string
	// Leaving counts the nodes in their grace period.
	Leaving int
	// Settled lists the hubs whose inventories all agree with this version of lynqctl.
	Settled map[lynq.HubKey]bool
	// Rollouts is the progress of the rollouts of forms, by hub. It covers only hubs with
	// all of their nodes in the plan.
	Rollouts    map[lynq.HubKey][]inventory.Rollout
	DryRun      bool
	Interrupted bool
	Elapsed     time.Duration
}

// Summarize sums up the results of a run. nodes are the nodes of plans. unmarked are nodes
// in their grace period with an inventory that lynqctl couldn't write. It is a pure
// function.
func Summarize(plans []plan.Plan, nodes, unmarked []NodeResult, rollouts schedule.Rollouts) *Summary {
	s := &Summary{Nodes: map[Outcome]int{}, Objects: map[Outcome]int{}, Actions: map[plan.Action]int{}, Adopted: map[plan.Action]int{}, Settled: map[lynq.HubKey]bool{}, Rollouts: map[lynq.HubKey][]inventory.Rollout{}}
	s.fail(nodes)
	s.fail(unmarked)
	s.Nodes[OutcomeFailed], s.Leaving = len(unmarked), -len(unmarked)
	for i := range plans {
		p := &plans[i]
		var of []NodeResult
		of, nodes = nodes[:len(p.Nodes)], nodes[len(p.Nodes):]
		for j := range of {
			s.count(&of[j])
		}
		if p.After {
			continue
		}
		s.Hubs = append(s.Hubs, p.Hub)
		s.Leaving += len(p.Leaving)
		settled := true
		for j := range of {
			s.Nodes[of[j].Outcome]++
			settled = settled && of[j].Settled
		}
		s.Settled[p.Hub] = p.Whole && p.Held == nil && len(p.Leaving) == 0 && settled
		if p.Whole {
			s.Rollouts[p.Hub] = rolledOut(of, rollouts)
		}
	}
	return s
}

// NotReady counts the unchanged objects that aren't ready, if the run waits for readiness.
func (s *Summary) NotReady() int {
	n := 0
	for i := range s.Unready {
		if s.Waits && !s.Unready[i].Ready {
			n++
		}
	}
	return n
}

// fail lists the nodes that failed.
func (s *Summary) fail(nodes []NodeResult) {
	for i := range nodes {
		if !nodes[i].Outcome.Well() && !nodes[i].Waits {
			s.Failed = append(s.Failed, nodes[i])
		}
	}
	slices.SortStableFunc(s.Failed, func(a, b NodeResult) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// count counts the objects of a node.
func (s *Summary) count(n *NodeResult) {
	for i := range n.Steps {
		ended := &n.Steps[i]
		if ended.Outcome != "" {
			s.Objects[ended.Outcome]++
		}
		if !ended.Acted() {
			continue
		}
		s.Actions[ended.Action]++
		if ended.Object == nil && ended.Adopted {
			s.Adopted[ended.Action]++
		}
	}
}

// rolledOut returns the rollouts of a hub's forms, sorted by form.
func rolledOut(nodes []NodeResult, rollouts schedule.Rollouts) []inventory.Rollout {
	come := map[schedule.Form]inventory.Rollout{}
	for i := range nodes {
		n := &nodes[i]
		if form := (schedule.Form{Hub: n.Hub, Form: n.planned.Form}); rollouts[form] != nil && !n.Leaves {
			stage, stages := rollouts[form].StageOf(n.Key())
			come[form] = n.counted(come[form], stage, stages)
		}
	}
	var all []inventory.Rollout
	for _, r := range come {
		switch {
		case r.Phase == inventory.RolloutStopped:
		case r.Updated == r.Total:
			r.Phase = inventory.RolloutComplete
		default:
			r.Phase = inventory.RolloutProgressing
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b inventory.Rollout) int {
		return cmp.Or(cmp.Compare(a.Form.Name, b.Form.Name), cmp.Compare(a.Form.Namespace, b.Form.Namespace))
	})
	return all
}

// counted returns the rollout of a form with one more node.
func (n *NodeResult) counted(r inventory.Rollout, stage, stages int) inventory.Rollout {
	r.Form, r.Total = n.planned.Form, r.Total+1
	if r.Stages = stages; r.Stage == 0 {
		r.Stage = stages
	}
	if !n.Outcome.Well() || n.Unready {
		r.Stage = min(r.Stage, stage)
	}
	switch {
	case n.Outcome.Well() && !n.Unready:
		r.Updated++
	case n.Stopped:
		r.Phase = inventory.RolloutStopped
	}
	return r
}

// Unready is an unchanged object that isn't as it should be.
type Unready struct {
	Node    lynq.NodeKey
	Object  lynq.Ref
	Message string
	// Ready is set if the object counts as ready anyway. It lost some of its pods, or
	// another client scaled it to zero.
	Ready bool
}
