package apply

import (
	"cmp"
	"slices"
	"sync"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// stats count what a run did.
type stats struct {
	mu      sync.Mutex
	nodes   map[Outcome]int
	objects map[Outcome]int
	actions map[plan.Action]int
	adopted map[plan.Action]int // of those that left
	failed  []FailedNode
	unwell  map[plan.NodeKey]bool // those of them that are wanted
	// unsettled are the hubs some of whose records another version renders.
	unsettled map[lynq.HubKey]bool
	rollouts  map[FormKey]inventory.Rollout
	// left are the steps that left objects as they were which are to be ready.
	left map[lynq.HubKey]map[lynq.Ref]leftStep
}

func newStats() *stats {
	return &stats{
		nodes: map[Outcome]int{}, objects: map[Outcome]int{}, actions: map[plan.Action]int{}, adopted: map[plan.Action]int{}, unwell: map[plan.NodeKey]bool{}, unsettled: map[lynq.HubKey]bool{},
		rollouts: map[FormKey]inventory.Rollout{}, left: map[lynq.HubKey]map[lynq.Ref]leftStep{},
	}
}

// node counts a node that is done.
func (s *stats) node(n *nodeRun, o Outcome) {
	settled := n.settles()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !n.of.After {
		s.nodes[o]++
	}
	for i := range n.steps {
		s.leave(n, &n.steps[i])
		if reached := n.steps[i].outcome; reached != "" {
			s.objects[reached]++
		}
		if n.steps[i].outcome == OutcomeDone {
			s.actions[n.steps[i].Action]++
			if n.steps[i].Object == nil && n.steps[i].Adopted {
				s.adopted[n.steps[i].Action]++
			}
		}
	}
	p := n.plan
	if severity(o) > severity(OutcomeDone) {
		if p.Desired != nil {
			s.unwell[p.NodeKey] = true
		}
		s.failed = append(s.failed, FailedNode{NodeKey: p.NodeKey, Hub: n.hub, Form: p.Form, Outcome: o, Problems: n.problems, Next: n.next(o)})
	}
	if !settled && !n.of.After {
		s.unsettled[n.hub] = true
	}
	if n.rollouts[n.form()] != nil && p.Desired != nil {
		s.rollouts[n.form()] = n.counted(s.rollouts[n.form()], o)
	}
}

// counted is the rollout of a form with one more of its nodes.
func (n *nodeRun) counted(r inventory.Rollout, o Outcome) inventory.Rollout {
	r.Form, r.FormNamespace, r.Total = n.plan.Form, n.plan.FormNamespace, r.Total+1
	unready := slices.ContainsFunc(n.steps, func(s stepRun) bool { return s.unready() })
	switch {
	case severity(o) <= severity(OutcomeDone) && !unready:
		r.Updated++
	case o == OutcomeSkipped && n.began.IsZero() && n.plan.Unmet == "" && !n.dependent: // it was left out
		r.Phase = inventory.RolloutStopped
	}
	return r
}

// rolledOut are the rollouts of a hub's forms, by form.
func (s *stats) rolledOut(hub lynq.HubKey) []inventory.Rollout {
	var all []inventory.Rollout
	for form, r := range s.rollouts {
		if form.Hub != hub {
			continue
		}
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
		return cmp.Or(cmp.Compare(a.Form, b.Form), cmp.Compare(a.FormNamespace, b.FormNamespace))
	})
	return all
}

// leave notes what a step left as it was, under the lock.
func (s *stats) leave(n *nodeRun, step *stepRun) {
	if !step.left() {
		return
	}
	if s.left[n.hub] == nil {
		s.left[n.hub] = map[lynq.Ref]leftStep{}
	}
	s.left[n.hub][step.Object.Ref] = leftStep{step.Step, n.plan.NodeKey}
}

func (s *stats) summary(plans []plan.Plan) *Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := &Summary{Nodes: s.nodes, Objects: s.objects, Actions: s.actions, Adopted: s.adopted, Failed: s.failed, Settled: map[lynq.HubKey]bool{}, Rollouts: map[lynq.HubKey][]inventory.Rollout{}}
	for i := range plans {
		if plans[i].After {
			continue
		}
		sum.Hubs = append(sum.Hubs, plans[i].Hub)
		if plans[i].Whole {
			sum.Rollouts[plans[i].Hub] = s.rolledOut(plans[i].Hub)
		}
		sum.Settled[plans[i].Hub] = plans[i].Whole && plans[i].Held == nil && !s.unsettled[plans[i].Hub]
	}
	slices.SortFunc(sum.Failed, func(a, b FailedNode) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return sum
}
