package apply

import (
	"cmp"
	"slices"
	"sync"
)

// stats count what a run did.
type stats struct {
	mu      sync.Mutex
	nodes   map[Outcome]int
	objects map[Outcome]int
	actions map[Action]int
	failed  []FailedNode
}

func newStats() *stats {
	return &stats{nodes: map[Outcome]int{}, objects: map[Outcome]int{}, actions: map[Action]int{}}
}

// node counts a node that is done.
func (s *stats) node(p *NodePlan, o Outcome, steps []stepRun, problems []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[o]++
	for i := range steps {
		s.objects[steps[i].outcome]++
		if steps[i].outcome == OutcomeDone {
			s.actions[steps[i].Action]++
		}
	}
	if severity(o) > severity(OutcomeDone) {
		s.failed = append(s.failed, FailedNode{NodeKey: p.NodeKey, Hub: p.Hub, Form: p.Form, Outcome: o, Problems: problems})
	}
}

func (s *stats) summary(plans []Plan) *Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := &Summary{Nodes: s.nodes, Objects: s.objects, Actions: s.actions, Failed: s.failed}
	for i := range plans {
		sum.Hubs = append(sum.Hubs, plans[i].Hub)
	}
	slices.SortFunc(sum.Failed, func(a, b FailedNode) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return sum
}
