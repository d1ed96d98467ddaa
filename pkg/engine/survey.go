package engine

import (
	"context"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// partial tells whether a plan of the run does not know of all that the inputs render: the
// run is narrowed, or its hubs are several, each of which is planned for itself.
func (j *applyJob) partial() bool {
	programs := 0
	for _, h := range j.hubs {
		programs += len(h.Programs)
	}
	return len(j.hubs) > 1 || programs < len(j.inputs.Forms) || len(j.o.Settings.Nodes) > 0
}

// survey finds out what all rows of all hubs and forms of the inputs render. A run that
// has rendered all of it reads nothing again.
func (j *applyJob) survey(ctx context.Context) *plan.Survey {
	nodes := j.wanted()
	if whole := len(allPrograms(j.hubs)) == len(j.inputs.Forms) && len(j.o.Settings.Nodes) == 0; !whole {
		var err error
		if nodes, err = j.renderAll(ctx); err != nil {
			return plan.FailedSurvey(err)
		}
	}
	return plan.NewSurvey(nodes)
}

// renderAll renders the inputs as if nothing narrowed the run. Rows that fail to render
// are among the nodes, with what they may want.
func (j *applyJob) renderAll(ctx context.Context) ([]*plan.Node, error) {
	o := j.o.RenderOptions
	o.Hubs, o.Forms, o.KeepGoing = nil, nil, true
	hubs, err := j.compileAll(ctx, &o)
	if err != nil {
		return nil, err
	}
	if o.Sources, err = (rowSource{override: o.Sources}).named(j.hubs); err != nil {
		return nil, err
	}
	whole := *j
	whole.hubs = hubs
	recorded, err := whole.recordedNames(ctx)
	if err != nil {
		return nil, err
	}
	reader := *j.Engine
	reader.View, reader.Metrics, reader.Stdin = unheard{j.View}, nil, j.stdinRows.Reader(j.Stdin)
	sink := &surveyed{desired{hubs: hubs}}
	settings := render.Settings{Recorded: recorded, KeepGoing: true}
	if _, err = reader.renderRows(ctx, &o, settings, &Inputs{Inputs: j.inputs.Inputs, Hubs: hubs}, sink); err != nil {
		return nil, err
	}
	return sink.nodes, nil
}

// compileAll compiles all forms of the inputs.
func (j *applyJob) compileAll(ctx context.Context, o *RenderOptions) ([]HubPrograms, error) {
	inputs := j.inputs.Inputs
	options, err := o.options(inputs.Forms, inputs)
	if err != nil {
		return nil, err
	}
	if err := askScopes(ctx, j.client, inputs.Forms, inputs); err != nil {
		return nil, err
	}
	hubs, problems := compile(inputs, inputs.Forms, options)
	if len(problems) > 0 {
		return nil, problems.Sorted().Err()
	}
	return hubs, j.o.identify(hubs)
}

// named are the URLs of --source, each with the name of its hub, so that they hold for
// all hubs of the inputs.
func (s rowSource) named(hubs []HubPrograms) ([]string, error) {
	urls, err := s.overrides(hubs)
	if err != nil {
		return nil, err
	}
	var named []string
	for i, url := range urls {
		if url != "" {
			named = append(named, hubs[i].Key.String()+"="+url)
		}
	}
	return named, nil
}

// surveyed keeps of each node which objects it renders, and no contents.
type surveyed struct{ desired }

// Make implements render.NodeSink.
func (*surveyed) Make(n *lynq.Node) (any, error) {
	lean := &plan.Node{Hub: n.Hub, Form: n.Form, UID: n.UID, Objects: make([]plan.Object, len(n.Objects))}
	for i := range n.Objects {
		lean.Objects[i] = plan.Object{Ref: n.Objects[i].Ref, ID: n.Objects[i].ID}
	}
	return lean, nil
}

// unheard is a View that shows nothing of what it is told: the run told it before.
type unheard struct{ View }

// Note implements View.
func (unheard) Note(string) {}

// Count implements View.
func (unheard) Count(string) Counter { return nil }
