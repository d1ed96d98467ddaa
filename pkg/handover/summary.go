package handover

import (
	"slices"
	"strings"
	"sync"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

// summary counts what a run does. It is safe for concurrent use.
type summary struct {
	mu sync.Mutex
	apply.Summary
}

func newSummary() *summary {
	return &summary{Summary: apply.Summary{
		Nodes: map[apply.Outcome]int{}, Objects: map[apply.Outcome]int{}, Actions: map[plan.Action]int{},
	}}
}

func (s *summary) object(a plan.Action, o apply.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Objects[o]++
	if a != "" && o != apply.OutcomeFailed {
		s.Actions[a]++
	}
}

func (s *summary) node(p *NodePlan, o apply.Outcome, problems []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Nodes[o]++
	if o == apply.OutcomeFailed {
		s.Failed = append(s.Failed, apply.FailedNode{NodeKey: p.Key(), Hub: p.hubKey(), Form: p.Form, Outcome: o, Problems: problems})
	}
}

// done is the sum, once nothing runs any more.
func (s *summary) done() *apply.Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortFunc(s.Failed, func(a, b apply.FailedNode) int { return strings.Compare(a.String(), b.String()) })
	sum := s.Summary
	return &sum
}
