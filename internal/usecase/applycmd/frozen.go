package applycmd

import (
	"context"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/planfile"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// command is the command that carries out the plans of this package.
const command = "apply"

// Freeze returns a plan file with the changes of these plans.
func (j *Job) Freeze(ctx context.Context, plans []plan.Plan) (*planfile.File, error) {
	var namespaces []string
	for _, h := range j.Hubs {
		namespaces = append(namespaces, h.Key.Namespace)
	}
	return j.Run.Freeze(ctx, command, namespaces, plans)
}

// narrowToPlan limits a plan to the nodes in a plan file. It keeps all nodes of forms with
// a rollout, because the order of a rollout depends on all of them.
func (j *Job) narrowToPlan(h load.HubPrograms, in *decide.Input) {
	f := j.RunOptions.Plan
	if f == nil {
		return
	}
	in.Scope.Concerned, in.Scope.Only = f.Nodes(h.Key, false), map[string]bool{}
	for key := range in.Scope.Concerned {
		in.Scope.Only[key.Name] = true
	}
	rolls := map[lynq.FormKey]bool{}
	for _, p := range h.Programs {
		l := LimitsOf(p.Form)
		rolls[load.FormKey(p.Form, h.Key.Namespace)] = l.Rolls()
	}
	for _, n := range in.Desired.Nodes {
		if rolls[n.Form] {
			in.Scope.Concerned[n.Key()] = true
		}
	}
}

// placeOf implements session.PlaceOf. It returns the place of the form if the form no longer has
// the resource.
func (j *Job) placeOf(of lynq.FormKey, id string) lynq.Pos {
	for _, h := range j.Hubs {
		for _, p := range h.Programs {
			if load.FormKey(p.Form, h.Key.Namespace) != of {
				continue
			}
			if r := p.Form.Resource(id); r != nil {
				return r.Pos
			}
			return p.Form.Pos
		}
	}
	return lynq.Pos{}
}
