package delete

import (
	"context"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// declaredHooks reads the hooks that the forms of the inputs declare, by hub. Without
// inputs, it returns nil, and only inventories show the hooks.
func declaredHooks(ctx context.Context, e *session.Engine, o *RemoveOptions) (map[lynq.HubKey][]decide.FormHooks, error) {
	if len(o.Declared.Inputs.Paths) == 0 {
		return nil, nil
	}
	in := o.Declared
	in.Access = o.Access
	inputs, err := load.Prepare(ctx, e, &in, "nothing changed")
	if err != nil {
		return nil, err
	}
	if err := in.Identify(inputs.Hubs); err != nil {
		return nil, &session.Error{Outcome: session.BadInput, Err: err, Summary: "nothing changed"}
	}
	load.HideObjects(e, inputs.Hubs)
	declared := map[lynq.HubKey][]decide.FormHooks{}
	for i := range inputs.Hubs {
		declared[inputs.Hubs[i].Key] = load.FormHooks(&inputs.Hubs[i])
	}
	return declared, nil
}
