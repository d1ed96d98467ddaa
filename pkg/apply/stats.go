package apply

import (
	"cmp"
	"slices"
	"sync"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
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
	// unsettled are the hubs some of whose records another version renders.
	unsettled map[lynq.HubKey]bool
}

func newStats() *stats {
	return &stats{nodes: map[Outcome]int{}, objects: map[Outcome]int{}, actions: map[plan.Action]int{}, adopted: map[plan.Action]int{}, unsettled: map[lynq.HubKey]bool{}}
}

// node counts a node that is done.
func (s *stats) node(n *nodeRun, o Outcome) {
	settled := n.settles()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[o]++
	for i := range n.steps {
		s.objects[n.steps[i].outcome]++
		if n.steps[i].outcome == OutcomeDone {
			s.actions[n.steps[i].Action]++
			if n.steps[i].Object == nil && n.steps[i].Adopted {
				s.adopted[n.steps[i].Action]++
			}
		}
	}
	p := n.plan
	if severity(o) > severity(OutcomeDone) {
		s.failed = append(s.failed, FailedNode{NodeKey: p.NodeKey, Hub: n.hub, Form: p.Form, Outcome: o, Problems: n.problems})
	}
	if !settled {
		s.unsettled[n.hub] = true
	}
}

func (s *stats) summary(plans []plan.Plan) *Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := &Summary{Nodes: s.nodes, Objects: s.objects, Actions: s.actions, Adopted: s.adopted, Failed: s.failed, Settled: map[lynq.HubKey]bool{}}
	for i := range plans {
		sum.Hubs = append(sum.Hubs, plans[i].Hub)
		sum.Settled[plans[i].Hub] = plans[i].Whole && !s.unsettled[plans[i].Hub]
	}
	slices.SortFunc(sum.Failed, func(a, b FailedNode) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return sum
}
