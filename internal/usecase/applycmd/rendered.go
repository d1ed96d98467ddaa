package applycmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/evidence"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// Rendered is a job with the nodes that its rows and forms render.
type Rendered struct {
	*Job
	Rendering
}

// Rendering holds the nodes that rows and forms render.
type Rendering struct {
	read    time.Time // the time of the query
	Nodes   map[lynq.HubKey][]*plan.Node
	reports map[lynq.HubKey]render.Report
	missing []string
	near    func(missing string) string // suggests a node for an unknown name, "" for none
	Failed  error                       // the nodes that failed to render
	// NextExpiry is the time when the next row of any hub expires. Zero means that none
	// does.
	NextExpiry time.Time
	sources    map[lynq.HubKey]*evidence.Source
	renames    map[lynq.HubKey]*lynq.Renames
}

// Render reads all rows and renders them. Bad rows end the run.
func (j *Job) Render(ctx context.Context) (*Rendered, error) {
	wanted := &desired{
		selector: j.Options.Settings.Selector, values: j.Options.RecordValues != RecordNone, sources: map[lynq.HubKey]*evidence.Source{},
		renames: map[lynq.HubKey]*lynq.Renames{}, named: len(j.Options.Settings.Nodes) > 0, pages: j.Pages,
	}
	recorded, err := recordedNames(ctx, j, j.Hubs)
	if err != nil {
		return nil, err
	}
	settings := j.Options.Settings
	settings.Recorded = recorded
	r := &Rendered{Job: j, Rendering: Rendering{read: j.Engine.Now(), Nodes: map[lynq.HubKey][]*plan.Node{}}}
	reader := *j.Engine
	reader.Stdin = j.stdinRows.Reader(j.Engine.Stdin)
	run, err := load.RenderRows(ctx, &reader, &j.Options.RenderOptions, settings, j.Inputs, wanted.render(ctx, wanted.sharded(j.Options.Shard)))
	if err != nil {
		return nil, j.Options.Ended(run.Run, err)
	}
	wanted.retract(run.Retracted())
	saveMemory(wanted.nodes)
	r.Failed, r.NextExpiry, r.sources, r.renames = run.Err(), run.Report().NextExpiry, wanted.sources, wanted.renames
	r.reports, r.missing, r.near = run.Hubs, run.Missing(), run.Near
	if !slices.ContainsFunc(wanted.nodes, func(n *plan.Node) bool { return n.Failed != nil && j.Options.Shard.Has(n.UID) }) {
		r.Failed = nil // the runs of other shards report their own rows
	}
	for _, n := range wanted.nodes {
		key := n.Hub
		r.Nodes[key] = append(r.Nodes[key], n)
	}
	return r, nil
}

// judge reports whether the run has anything to do, as far as the rows show.
func (r *Rendered) judge() (some bool, err error) {
	if r.Adopting == nil {
		return !r.NothingPlanned(), nil
	}
	if some, err = r.Adopting.judge(r); err == nil && !some {
		r.Engine.Notef("there is no orphan to adopt")
	}
	return some, err
}

// unknownNodes refuses names given with --node that neither rows nor records contain.
func (r *Rendered) unknownNodes(found map[string]bool) error {
	missing := slices.DeleteFunc(slices.Clone(r.missing), func(n string) bool { return found[n] })
	if len(missing) == 0 {
		return nil
	}
	names := slices.Collect(maps.Keys(found))
	for _, nodes := range r.Nodes {
		for _, n := range nodes {
			names = append(names, n.Name)
		}
	}
	slices.Sort(names)
	e := load.UnknownNodes(missing, render.FormNames(load.AllPrograms(r.Hubs)))
	for _, m := range missing {
		candidates := names
		if near := r.near(m); near != "" {
			candidates = append(candidates, near)
		}
		if near, ok := suggest.Near(m, candidates); ok {
			e.Err = fmt.Errorf("%w; for %s, did you mean %s?", e.Err, m, near)
		}
	}
	return e
}

// Unrendered returns the nodes that failed to render, in the form of hub records.
func Unrendered(nodes []*plan.Node) []inventory.Unrendered {
	var failed []inventory.Unrendered
	for _, n := range nodes {
		if why := (*plan.RenderError)(nil); errors.As(n.Failed, &why) {
			failed = append(failed, inventory.Unrendered{Node: n.NodeID, Message: why.Masked})
		}
	}
	return failed
}
