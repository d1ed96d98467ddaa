package load

import (
	"context"
	"slices"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// HubPrograms are the compiled forms of one hub.
type HubPrograms struct {
	Hub *form.Hub
	// Key identifies the hub. It has no namespace if its file has none and the run asks no
	// cluster.
	Key      lynq.HubKey
	Programs []*render.Program
}

// Namespaces returns the namespaces of the forms' nodes.
func (h *HubPrograms) Namespaces() []string {
	var all []string
	for _, p := range h.Programs {
		all = append(all, p.Namespace)
	}
	return all
}

// HubNames returns the names of hubs, without their namespaces.
func HubNames(hubs []HubPrograms) []string {
	names := make([]string, len(hubs))
	for i, h := range hubs {
		names[i] = h.Hub.Name
	}
	return names
}

// AllPrograms returns the compiled forms of all hubs.
func AllPrograms(hubs []HubPrograms) []*render.Program {
	var all []*render.Program
	for _, h := range hubs {
		all = append(all, h.Programs...)
	}
	return all
}

// Compile compiles forms and groups them by hub, in the order of the forms. It returns
// every problem that it finds.
func Compile(ctx context.Context, e *session.Engine, inputs *form.Inputs, forms []*form.Form, o render.Options) ([]HubPrograms, lynq.Problems) {
	o.ClusterScoped = inputs.ClusterScoped
	if e.Helper != nil {
		o.Charts = charts{ctx, e.Helper}
	}
	var hubs []HubPrograms
	var problems lynq.Problems
	for _, f := range forms {
		h := inputs.Hub(f)
		if h == nil {
			continue // Read reports this problem
		}
		p, ps := render.Compile(f, h, o)
		problems = append(problems, ps...)
		i := slices.IndexFunc(hubs, func(hp HubPrograms) bool { return hp.Hub == h })
		if i < 0 {
			hubs, i = append(hubs, HubPrograms{Hub: h, Key: h.Key()}), len(hubs)
		}
		hubs[i].Programs = append(hubs[i].Programs, p)
	}
	slices.SortStableFunc(hubs, func(a, b HubPrograms) int {
		return slices.Index(inputs.Hubs, a.Hub) - slices.Index(inputs.Hubs, b.Hub)
	})
	return hubs, problems
}

// Inputs holds loaded and compiled hubs and forms.
type Inputs struct {
	*form.Inputs
	Hubs   []HubPrograms
	Losses []policy.Loss // policies that the target ignores
	// ChartLosses has those of objects of charts, which only rows tell.
	ChartLosses *policy.Losses
}

// Prepare loads and compiles the inputs that the options name. It returns all problems at
// once, in an error that contains the text nothing.
func Prepare(ctx context.Context, e *session.Engine, o *RenderOptions, nothing string) (*Inputs, error) {
	return PrepareWith(ctx, e, o, nothing, o.Options)
}

// PrepareWith works like Prepare, with render options from a function.
func PrepareWith(ctx context.Context, e *session.Engine, o *RenderOptions, nothing string, options func([]*form.Form, *form.Inputs) (render.Options, error)) (*Inputs, error) {
	inputs, problems, err := Read(ctx, e, &o.Inputs)
	if err != nil {
		return nil, err
	}
	forms := inputs.Forms
	if len(problems) == 0 {
		if forms, err = o.Inputs.Choose(inputs); err != nil {
			return nil, err
		}
	}
	compiling, optionsErr := options(forms, inputs)
	compiling.Strict = o.Inputs.Strict
	hubs, more := Compile(ctx, e, inputs, forms, compiling)
	problems = append(problems, more...)
	exposed := exposedOf(hubs)
	if o.Inputs.Strict {
		problems = append(problems, exposed...)
	}
	if len(problems) > 0 {
		return nil, session.BadInputs(problems, nothing)
	}
	e.Warn(exposed)
	if optionsErr != nil {
		return nil, optionsErr
	}
	return &Inputs{Inputs: inputs, Hubs: hubs}, nil
}

// HideObjects says which hubs have secret columns. Of their objects that leave, nobody
// knows the secret values.
func HideObjects(e *session.Engine, hubs []HubPrograms) {
	for _, h := range hubs {
		if h.Hub.HasSecrets() {
			e.Secrets.HideObjects(h.Key.String())
		}
	}
}

// exposedOf returns the places where forms show values of secret columns outside of
// Secrets.
func exposedOf(hubs []HubPrograms) lynq.Problems {
	var exposed lynq.Problems
	for _, p := range AllPrograms(hubs) {
		if p != nil {
			exposed = append(exposed, p.Exposed()...)
		}
	}
	return exposed
}

// HasSecretColumns reports whether any hub of the inputs has secret columns, even if the
// user didn't select it.
func (in *Inputs) HasSecretColumns() bool {
	return slices.ContainsFunc(in.Inputs.Hubs, func(h *form.Hub) bool { return h.HasSecrets() })
}

// HubKeys returns the keys of hubs.
func HubKeys(hubs []HubPrograms) []lynq.HubKey {
	keys := make([]lynq.HubKey, len(hubs))
	for i, h := range hubs {
		keys[i] = h.Key
	}
	return keys
}

// FormHooks returns the hooks that the forms of a hub declare to run before lynqctl deletes
// a node.
func FormHooks(h *HubPrograms) []decide.FormHooks {
	hooks := make([]decide.FormHooks, len(h.Programs))
	for i, p := range h.Programs {
		hooks[i] = decide.FormHooks{Form: FormKey(p.Form, h.Key.Namespace), Hooks: p.Hooks()}
	}
	return hooks
}
