package decide

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
)

// tellContents says on each step that deletes a Namespace or a CustomResourceDefinition that
// its contents are deleted, too.
func tellContents(p *plan.Plan) {
	for i := range p.Nodes {
		steps := p.Nodes[i].Steps
		for k := range steps {
			s := &steps[k]
			if what := tracking.TakesAlong(s.Ref()); what != "" && s.Deletes() && s.Action != plan.ActionRecreate && !strings.Contains(s.Message, what) {
				s.Message = strings.TrimPrefix(s.Message+"; "+what, "; ")
			}
		}
	}
}

// refuseContents adds to refusals of deletions which containers the plan would delete.
func refuseContents(p *plan.Plan) {
	along := plan.Along(p.Nodes)
	for i := range p.Refusals {
		r := &p.Refusals[i]
		if along != "" && slices.Contains([]plan.Guard{plan.GuardEmpty, plan.GuardMaxDelete, plan.GuardDeleting}, r.Guard) {
			r.What += ", " + along
		}
	}
}
