package apply

import (
	"context"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
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

// plannedNodes are the nodes of a hub that a plan file has, and their names; nil where there
// is no file.
func (j *Job) plannedNodes(hub lynq.HubKey) (nodes map[lynq.NodeKey]bool, names map[string]bool) {
	if j.RunOptions.Plan == nil {
		return nil, nil
	}
	nodes, names = j.RunOptions.Plan.Nodes(hub, false), map[string]bool{}
	for key := range nodes {
		names[key.Name] = true
	}
	return nodes, names
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
