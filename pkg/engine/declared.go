package engine

import (
	"context"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// formHooks is what the forms of a hub declare of what runs before their nodes are deleted.
func formHooks(h *HubPrograms) []plan.FormHooks {
	hooks := make([]plan.FormHooks, len(h.Programs))
	for i, p := range h.Programs {
		hooks[i] = plan.FormHooks{Form: formKey(p.Form, h.Key.Namespace), Hooks: p.Hooks()}
	}
	return hooks
}

// declaredHooks reads the inputs of a removal: what their forms declare, by hub. Without
// inputs records alone tell, and nil is the answer.
func (e *Engine) declaredHooks(ctx context.Context, o *RemoveOptions) (map[lynq.HubKey][]plan.FormHooks, error) {
	if len(o.Inputs.Paths) == 0 {
		return nil, nil
	}
	in := o.Inputs
	in.Access = o.Access
	inputs, err := e.Prepare(ctx, &in, "nothing was touched")
	if err != nil {
		return nil, err
	}
	if err := in.identify(inputs.Hubs); err != nil {
		return nil, &Error{Outcome: BadInput, Err: err, Summary: "nothing was touched"}
	}
	declared := map[lynq.HubKey][]plan.FormHooks{}
	for i := range inputs.Hubs {
		declared[inputs.Hubs[i].Key] = formHooks(&inputs.Hubs[i])
	}
	return declared, nil
}
