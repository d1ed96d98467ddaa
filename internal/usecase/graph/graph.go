package graph

import (
	"context"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/form"
)

// Run loads the forms that the options choose. It returns a *session.Error for bad inputs.
func Run(ctx context.Context, e *session.Engine, in *load.InputOptions) ([]*form.Form, error) {
	inputs, problems, err := load.Read(ctx, e, in)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, session.BadInputs(problems, "nothing was printed")
	}
	return in.Choose(inputs)
}
