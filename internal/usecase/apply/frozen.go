package apply

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

// Freeze writes down what an apply of these plans changes.
func (j *Job) Freeze(ctx context.Context, plans []plan.Plan) (*planfile.File, error) {
	var namespaces []string
	for _, h := range j.Hubs {
		namespaces = append(namespaces, h.Key.Namespace)
	}
	return j.Run.Freeze(ctx, command, namespaces, plans)
}

// narrowToPlan has a plan be of the nodes that a plan file has. Those of forms with a
// rollout are in it too: whose turn it is depends on all of them.
func (j *Job) narrowToPlan(h load.HubPrograms, in *decide.Input) {
	f := j.RunOptions.Plan
	if f == nil {
		return
	}
	in.Concerned, in.Only = f.Nodes(h.Key, false), map[string]bool{}
	for key := range in.Concerned {
		in.Only[key.Name] = true
	}
	rolls := map[lynq.FormKey]bool{}
	for _, p := range h.Programs {
		l := LimitsOf(p.Form)
		rolls[load.FormKey(p.Form, h.Key.Namespace)] = l.Rolls()
	}
	for _, n := range in.Nodes {
		if rolls[n.Form] {
			in.Concerned[n.Key()] = true
		}
	}
}

// formPlaces are where the forms of the inputs are.
func (j *Job) formPlaces() map[lynq.FormKey]lynq.Pos {
	places := map[lynq.FormKey]lynq.Pos{}
	for _, h := range j.Hubs {
		for _, p := range h.Programs {
			places[load.FormKey(p.Form, h.Key.Namespace)] = p.Form.Pos
		}
	}
	return places
}
