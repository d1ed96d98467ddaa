package applycmd

import (
	"context"
	"maps"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// partial reports whether a plan of the run covers only a part of what the inputs render.
// The run may be narrowed. Or it has several hubs, and each has its own plan.
func (j *Job) partial() bool {
	programs := 0
	for _, h := range j.Hubs {
		programs += len(h.Programs)
	}
	return len(j.Hubs) > 1 || programs < len(j.Inputs.Forms) || len(j.Options.Settings.Nodes) > 0
}

// survey finds out what all rows, hubs and forms of the inputs render. A run that rendered
// all of it reads nothing again.
func (r *Rendered) survey(ctx context.Context) *decide.Survey {
	if len(load.AllPrograms(r.Hubs)) == len(r.Inputs.Forms) && len(r.Options.Settings.Nodes) == 0 {
		return decide.NewSurvey(r.wanted())
	}
	read := func(ctx context.Context) ([]*plan.Node, error) { return renderAll(ctx, r.Job) } // it may outlast the plan
	if r.Survey == nil {
		return surveyOf(read(ctx))
	}
	return surveyOf(r.Survey(ctx, read))
}

func surveyOf(nodes []*plan.Node, err error) *decide.Survey {
	if err != nil {
		return decide.FailedSurvey(err)
	}
	return decide.NewSurvey(nodes)
}

// renderAll renders the inputs as if nothing narrowed the run. Rows that failed to render
// become nodes, too, with the objects that they may want.
func renderAll(ctx context.Context, j *Job) ([]*plan.Node, error) {
	o := j.Options.RenderOptions
	o.Inputs.Hubs, o.Inputs.Forms, o.KeepGoing = nil, nil, true
	hubs, err := compileAll(ctx, j, &o)
	if err != nil {
		return nil, err
	}
	if o.Sources = j.Options.AllSources; o.Sources == nil {
		if o.Sources, err = (load.RowSource{Override: j.Options.Sources}).Named(j.Hubs); err != nil {
			return nil, err
		}
	}
	recorded, err := recordedNames(ctx, j, hubs)
	if err != nil {
		return nil, err
	}
	reader := *j.Engine
	reader.View, reader.Metrics, reader.Stdin = session.Unheard(j.Engine.View), nil, j.stdinRows.Reader(j.Engine.Stdin)
	var wanted desired
	settings := render.Settings{Recorded: recorded, KeepGoing: true}
	run, err := load.RenderRows(ctx, &reader, &o, settings, &load.Inputs{Inputs: j.Inputs.Inputs, Hubs: hubs}, wanted.render(ctx, surveyed))
	if err != nil {
		return nil, err
	}
	wanted.retract(run.Retracted())
	return wanted.nodes, nil
}

// compileAll compiles all forms of the inputs.
func compileAll(ctx context.Context, j *Job, o *load.RenderOptions) ([]load.HubPrograms, error) {
	own := *j.Inputs.Inputs
	own.ClusterScoped = maps.Clone(own.ClusterScoped) // other hubs of a watch read it meanwhile
	inputs := &own
	options, err := o.ClusterOptions(inputs.Forms, inputs)
	if err != nil {
		return nil, err
	}
	if err := askScopes(ctx, j.Client, inputs.Forms, inputs); err != nil {
		return nil, err
	}
	hubs, problems := load.Compile(ctx, j.Engine, inputs, inputs.Forms, options)
	if len(problems) > 0 {
		return nil, problems.Sorted().Err()
	}
	return hubs, j.Options.Identify(hubs)
}

// surveyed returns the names of a node's objects, without contents.
func surveyed(_ *form.Hub, n *lynq.Node, _ []string) (*plan.Node, error) {
	lean := plan.Head(n)
	lean.Objects = make([]plan.Object, len(n.Objects))
	for i := range n.Objects {
		lean.Objects[i] = plan.Object{Ref: n.Objects[i].Ref, ID: n.Objects[i].ID}
	}
	return lean, nil
}
