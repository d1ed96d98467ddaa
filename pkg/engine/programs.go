package engine

import (
	"context"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/gitops"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// HubPrograms are the compiled forms of one hub.
type HubPrograms struct {
	Hub *form.Hub
	// Key is the hub's identity: without a namespace where neither its file has one
	// nor a cluster is asked.
	Key      lynq.HubKey
	Programs []*render.Program
}

// namespaces are those of the nodes that the forms make.
func (h *HubPrograms) namespaces() []string {
	var all []string
	for _, p := range h.Programs {
		all = append(all, p.Namespace)
	}
	return all
}

func hubNames(hubs []HubPrograms) []string {
	names := make([]string, len(hubs))
	for i, h := range hubs {
		names[i] = h.Hub.Name
	}
	return names
}

func allPrograms(hubs []HubPrograms) []*render.Program {
	var all []*render.Program
	for _, h := range hubs {
		all = append(all, h.Programs...)
	}
	return all
}

// compile compiles forms and groups them by hub, in the order of the forms.
func compile(inputs *form.Inputs, forms []*form.Form, o render.Options) ([]HubPrograms, lynq.Problems) {
	o.ClusterScoped = inputs.ClusterScoped
	var hubs []HubPrograms
	var problems lynq.Problems
	for _, f := range forms {
		h := inputs.Hub(f)
		if h == nil {
			continue // a problem of the inputs, told with them
		}
		p, ps := render.Compile(f, h, o)
		problems = append(problems, ps...)
		i := slices.IndexFunc(hubs, func(hp HubPrograms) bool { return hp.Hub == h })
		if i < 0 {
			hubs, i = append(hubs, HubPrograms{Hub: h, Key: lynq.HubKey{Namespace: h.Namespace, Name: h.Name}}), len(hubs)
		}
		hubs[i].Programs = append(hubs[i].Programs, p)
	}
	slices.SortStableFunc(hubs, func(a, b HubPrograms) int {
		return slices.Index(inputs.Hubs, a.Hub) - slices.Index(inputs.Hubs, b.Hub)
	})
	return hubs, problems
}

// Inputs are hubs and forms that were loaded and compiled.
type Inputs struct {
	*form.Inputs
	Hubs   []HubPrograms
	losses []gitops.Loss // of policies, by the target that the inputs are prepared for
}

// Prepare loads and compiles what options name, and reports everything that is wrong
// with it at once; nothing says what was not done then.
func (e *Engine) Prepare(ctx context.Context, o *RenderOptions, nothing string) (*Inputs, error) {
	return e.prepareWith(ctx, o, nothing, o.options)
}

// prepareWith is Prepare with other options than those of o.
func (e *Engine) prepareWith(ctx context.Context, o *RenderOptions, nothing string, options func([]*form.Form, *form.Inputs) (render.Options, error)) (*Inputs, error) {
	inputs, problems, err := e.LoadInputs(ctx, &o.InputOptions)
	if err != nil {
		return nil, err
	}
	forms := inputs.Forms
	if len(problems) == 0 {
		if forms, err = o.Choose(inputs); err != nil {
			return nil, err
		}
	}
	compiling, optionsErr := options(forms, inputs)
	hubs, more := compile(inputs, forms, compiling)
	if problems = append(problems, more...); len(problems) > 0 {
		return nil, BadInputs(problems, nothing)
	}
	if optionsErr != nil {
		return nil, optionsErr
	}
	return &Inputs{Inputs: inputs, Hubs: hubs}, nil
}
