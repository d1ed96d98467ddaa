package report

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/reason"
	"github.com/lynqctl/lynqctl/pkg/apply/schedule"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Result says how a run ended. Exit codes, reports, metrics and records read it, and
// ask nothing else.
type Result struct {
	// Nodes are all nodes of the plans, in their order.
	Nodes []NodeResult
	// Summary is what they add up to.
	Summary *Summary
}

// NodeResult says how a node ended.
type NodeResult struct {
	lynq.NodeID
	// Outcome is "" where no run carried the node out.
	Outcome Outcome
	Reason  reason.Reason // why it failed, where that is a word
	// Problems name object, reason and what to do, a line each.
	Problems []string
	// Next is the command that shows more of it, "" where there is none.
	Next string
	// Leaves: it is wanted no more.
	Leaves bool
	Steps  []StepResult

	planned *plan.NodePlan
	// Settled: nothing is recorded of it that another version may render otherwise.
	Settled bool
	Unready bool // an object of it is to become ready, and was not seen so
	Stopped bool // its rollout gave it no turn
	Waits   bool // its turn is in a later run, as a person wants it
}

// StepResult says how a step ended. It has the step that was decided last; the plan has
// the one that was decided first.
type StepResult struct {
	Step        *plan.Step
	Outcome     Outcome // "" where no run carried it out
	Message     string  // for people; may say what to do
	Ready       bool    // the object is known to be ready
	Interrupted bool    // the run ended before it was done
}

// Event is the event that tells of a step.
func (s *StepResult) Event() Event {
	return Event{
		Type: EventObject, Object: s.Step.Ref(), ID: s.Step.ID(), Action: s.Step.Action, Reason: s.Step.Reason, Outcome: s.Outcome,
		Message: s.Message, Adopted: s.Step.Adopted, Conflict: s.Step.ConflictPolicy(), Interrupted: s.Interrupted,
	}
}

// Well tells whether something ended as it should.
func (o Outcome) Well() bool { return Severity(o) <= Severity(OutcomeDone) }

// End is an outcome as those take it who wait for it.
func (o Outcome) End() schedule.End {
	return schedule.End{
		Word: strings.ReplaceAll(string(o), "-", " "), Well: o.Well(), Written: o == OutcomeDone || o == OutcomeUnchanged || o == OutcomeNotReady, Interrupted: o == OutcomeInterrupted,
	}
}

// Severity orders outcomes: a node's is the worst of its objects'.
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

// Planned is the result of plans that no run carries out.
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

// ResultsOf are the results of all nodes before a run.
func ResultsOf(plans []plan.Plan) []NodeResult {
	var all []NodeResult
	for i := range plans {
		for j := range plans[i].Nodes {
			p := &plans[i].Nodes[j]
			id := p.NodeID
			id.Hub = plans[i].Hub // which a record may not say
			all = append(all, NodeResult{NodeID: id, Leaves: p.Desired == nil, planned: p})
		}
	}
	return all
}

// plan is how a node ends as far as its plan tells.
func (n *NodeResult) plan() {
	p, idle := n.planned, true
	for i := range p.Steps {
		s := &p.Steps[i]
		n.Steps = append(n.Steps, StepResult{Step: s, Message: s.Message, Ready: KeptReady(s)})
		idle = idle && (s.Action == plan.ActionKeep || s.Action == plan.ActionSkip)
	}
	switch {
	case p.Desired != nil && p.Desired.Failed != nil:
		n.Outcome, n.Reason, n.Problems = OutcomeFailed, ReasonFor(p.Desired.Failed), strings.Split(strings.TrimSpace(p.Desired.Failed.Error()), "\n")
	case p.Unmet != "":
		n.Outcome, n.Problems = OutcomeSkipped, []string{p.Unmet}
	case idle:
		n.Outcome = OutcomeUnchanged
	}
}

// Unrendered says why the node could not be rendered, without values of its row; "" where it
// could.
func (n *NodeResult) Unrendered() string {
	if n.planned == nil || n.planned.Desired == nil {
		return ""
	}
	if why := (*plan.RenderError)(nil); errors.As(n.planned.Desired.Failed, &why) {
		return why.Masked
	}
	return ""
}

// ReasonFor is a word for why a node failed, "" where there is none.
func ReasonFor(err error) reason.Reason {
	if unknown := (*plan.UnknownError)(nil); errors.As(err, &unknown) {
		return reason.Unknown
	}
	return ""
}

// KeptReady tells whether a step leaves an object as it is that is recorded as ready.
func KeptReady(s *plan.Step) bool {
	return s.Action == plan.ActionKeep && s.Entry != nil && s.Entry.Ready
}

// LeavesAlone tells whether a node that goes has an object that is left alone, so that
// its record stays.
func (n *NodeResult) LeavesAlone() bool {
	return slices.ContainsFunc(n.Steps, func(s StepResult) bool { return s.Step.Action == plan.ActionSkip })
}

// Moves tells whether the node goes on as another one.
func (n *NodeResult) Moves() bool { return n.planned != nil && n.planned.Moves() }

// Summary counts how the nodes and objects of a run ended.
type Summary struct {
	Hubs []lynq.HubKey
	// Nodes and Objects count what ended with each outcome; Actions what was
	// done to objects.
	Nodes   map[Outcome]int
	Objects map[Outcome]int
	Actions map[plan.Action]int
	// Adopted counts those that left which were adopted.
	Adopted map[plan.Action]int
	// Failed lists the nodes that did not end well, in the order of their
	// names, each with what to do next.
	Failed []NodeResult
	// Unready are the objects that are unchanged but not ready, by node. They make
	// nothing fail.
	Unready []Unready
	// Sighted notes for the next run which objects are ready, by hub.
	Sighted map[lynq.HubKey]string
	// Leaving counts the nodes that are kept for their grace period.
	Leaving int
	// Settled tells of which hubs this version renders what is recorded of every
	// node whose record has a version.
	Settled map[lynq.HubKey]bool
	// Rollouts are how far those of a hub's forms have come, of hubs all of whose nodes
	// were in the plan.
	Rollouts    map[lynq.HubKey][]inventory.Rollout
	DryRun      bool
	Interrupted bool
	Elapsed     time.Duration
}

// Summarize sums up the results of the nodes of plans, and of those that are kept for
// their grace period, and whose inventories could not be written. It is a pure function.
func Summarize(plans []plan.Plan, nodes, unmarked []NodeResult, rollouts schedule.Rollouts) *Summary {
	s := &Summary{Nodes: map[Outcome]int{}, Objects: map[Outcome]int{}, Actions: map[plan.Action]int{}, Adopted: map[plan.Action]int{}, Settled: map[lynq.HubKey]bool{}, Rollouts: map[lynq.HubKey][]inventory.Rollout{}}
	s.fail(slices.Concat(nodes, unmarked))
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

// fail lists the nodes that did not end well.
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
		if ended.Outcome != OutcomeDone {
			continue
		}
		s.Actions[ended.Step.Action]++
		if ended.Step.Object == nil && ended.Step.Adopted {
			s.Adopted[ended.Step.Action]++
		}
	}
}

// rolledOut are the rollouts of a hub's forms, by form.
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

// counted is the rollout of a form with one more of its nodes.
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
