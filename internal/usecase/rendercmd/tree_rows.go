package rendercmd

import (
	"context"
	"slices"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/gitops"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// rows returns what decisions about the tree depend on beside the nodes.
func (j *treeJob) rows(rendered *treeNodes) map[lynq.HubKey]gitops.Rows {
	all := map[lynq.HubKey]gitops.Rows{}
	for _, h := range j.hubs {
		rows := gitops.Rows{
			Active: j.run.Hubs[h.Key].Active, Renames: rendered.renames[h.Key],
			Exclude: map[lynq.FormKey]lynq.Exclusions{}, DependForms: map[lynq.FormKey][]string{},
		}
		for _, p := range h.Programs {
			for _, name := range formerAndNow(p) { // what a node was called doesn't change its rules
				rows.Exclude[name], rows.DependForms[name] = p.Exclude, formNames(p.Form.DependForms)
			}
		}
		all[h.Hub.Key()] = rows
	}
	return all
}

// elsewhere returns a function that renders the rows that the run leaves out. It returns
// nil if the run has all of them.
func (j *treeJob) elsewhere(ctx context.Context, inputs *load.Inputs, stdin *load.Replayed) func() *decide.Survey {
	if len(load.AllPrograms(j.hubs)) == len(inputs.Forms) && len(j.o.Settings.Nodes) == 0 {
		return nil
	}
	return func() *decide.Survey {
		nodes, err := j.renderAll(ctx, inputs, stdin)
		if err != nil {
			return decide.FailedSurvey(err)
		}
		return decide.NewSurvey(nodes)
	}
}

// renderAll renders the inputs as if nothing narrowed the run, and returns the nodes that
// the run leaves out. Rows that fail to render become nodes, too.
func (j *treeJob) renderAll(ctx context.Context, inputs *load.Inputs, stdin *load.Replayed) ([]*plan.Node, error) {
	options, err := j.o.options(inputs.Forms, inputs.Inputs)
	if err != nil {
		return nil, err
	}
	hubs, problems := load.Compile(ctx, j.Engine, inputs.Inputs, inputs.Forms, options)
	if len(problems) > 0 {
		return nil, problems.Sorted().Err()
	}
	o := j.o.RenderOptions
	if o.Sources, err = (load.RowSource{Override: o.Sources}).Named(j.hubs); err != nil {
		return nil, err
	}
	reader := *j.Engine
	reader.View, reader.Metrics, reader.Stdin = session.Unheard(j.View), nil, stdin.Reader(j.Stdin)
	have := map[lynq.NodeID]bool{}
	for _, n := range j.input.Nodes {
		have[n.NodeID] = true
	}
	var all []*plan.Node
	take := func(run *render.Run, in render.Input) error {
		for n, err := range run.Documents(ctx, in) {
			if err != nil {
				return err
			}
			all = append(all, surveyed(&n))
		}
		return nil
	}
	run, err := load.RenderRows(ctx, &reader, &o, render.Settings{KeepGoing: true}, &load.Inputs{Inputs: inputs.Inputs, Hubs: hubs}, take)
	if err != nil {
		return nil, err
	}
	for _, i := range run.Retracted() {
		all[i].Fail(gitops.ErrNotRendered)
	}
	all = slices.DeleteFunc(all, func(n *plan.Node) bool { return have[n.NodeID] })
	for _, n := range all {
		n.NodeID = gitops.Identify(n.NodeID)
	}
	return all, nil
}

// surveyed returns the names of a node's objects.
func surveyed(r *render.Rendered[render.Document]) *plan.Node {
	n := &plan.Node{NodeID: nodeOf(r)}
	for _, o := range r.Out.Objects {
		n.Objects = append(n.Objects, plan.Object{Ref: o.Ref, ID: o.ID})
	}
	if len(r.Problems) > 0 {
		n.Claims = claimsOf(r)
		n.Fail(gitops.ErrNotRendered)
	}
	return n
}

// nodeOf returns a rendered node's identity, with hub and form as in their files.
func nodeOf(r *render.Rendered[render.Document]) lynq.NodeID {
	return lynq.NodeID{Hub: r.Program.Hub.Key(), Form: r.Program.Form.Key(), UID: r.UID, Namespace: r.Namespace, Name: r.Name}
}

// claimsOf returns the objects that a row may need that failed to render.
func claimsOf(r *render.Rendered[render.Document]) plan.Claims {
	return plan.Claims{Refs: r.Refs, Values: load.MappedValues(r.Program.Hub, r.Values)}
}

func formNames(texts []form.Text) []string {
	var names []string
	for _, t := range texts {
		names = append(names, t.Text)
	}
	slices.Sort(names)
	return names
}
