package load

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/render"
	"github.com/lynqctl/lynqctl/pkg/source"
	"github.com/lynqctl/lynqctl/pkg/source/httprows"
)

// RenderOptions say what to read and render.
type RenderOptions struct {
	Inputs  InputOptions
	Access  kube.Access
	Timeout time.Duration // 0 means no limit
	// Namespace is the namespace of the nodes, whatever the inputs say. With "", the inputs
	// decide.
	Namespace string
	// Sources replace the sources of hubs, as URL or HUB=URL.
	Sources []string
	// Answers keeps the answers of an API, which then sends only changes. With nil, it
	// sends everything.
	Answers *httprows.Answers
	// Shard selects the rows of the run. Zero means all.
	Shard lynq.Shard
	// Settings narrow what the run renders. The program sets KeepGoing in it.
	Settings render.Settings
	// RefuseVarying refuses functions that vary in every resource. That includes
	// creationPolicy Once, because a later run replaces what this run writes.
	RefuseVarying bool
	// Stream writes each node as soon as it is rendered.
	Stream bool
	// KeepGoing uses the rendered nodes even if others failed.
	KeepGoing bool
	// Shuffle changes the order of rows, unless it is nil.
	Shuffle *rand.Rand
	// Nothing is the text for failures without output.
	Nothing string
}

// Options returns render options with a namespace. It asks the kubeconfig only if options,
// form and hub have none.
func (f *RenderOptions) Options(forms []*form.Form, inputs *form.Inputs) (render.Options, error) {
	o := render.Options{Namespace: f.Namespace, AllowVarying: !f.RefuseVarying}
	for _, form := range forms {
		hub := inputs.Hub(form)
		if o.Namespace != "" || form.Namespace != "" || hub == nil || hub.Namespace != "" {
			continue
		}
		ns, err := f.Access.Namespace()
		if err != nil {
			return o, session.BadUsage(err)
		}
		o.FallbackNamespace = ns
		break
	}
	return o, nil
}

// ClusterOptions returns render options for a run that changes a cluster. They have the
// namespace that Identify gives hubs without one.
func (f *RenderOptions) ClusterOptions(forms []*form.Form, inputs *form.Inputs) (render.Options, error) {
	o, err := f.Options(forms, inputs)
	if err != nil {
		return o, err
	}
	for _, form := range forms {
		hub := inputs.Hub(form)
		if hub == nil || hub.Namespace != "" {
			continue
		}
		if o.HubNamespace, err = f.hubNamespace(hub); err != nil {
			return o, session.BadUsage(err)
		}
		break
	}
	return o, nil
}

// RenderRows reads the rows of each hub, and calls take to render them. Even after an
// error, the returned run has what was rendered.
func RenderRows(ctx context.Context, e *session.Engine, f *RenderOptions, s render.Settings, inputs *Inputs, take func(*render.Run, render.Input) error) (*HubsRun, error) {
	s.Now, s.Tables = e.Now(), map[*form.Lookup]*form.Entries{}
	run := &HubsRun{Run: render.NewRun(s, AllPrograms(inputs.Hubs)), Hubs: map[lynq.HubKey]render.Report{}}
	rows := RowSource{Filter: e.Secrets, Stdin: e.Stdin, Override: f.Sources, answers: f.Answers, shuffle: f.Shuffle, Passwords: Passwords{Getenv: e.Getenv, Secrets: inputs.Secrets, Cluster: SecretsOf(e, &f.Access)}}
	connections, err := rows.Connections(ctx, inputs.Hubs, f.Inputs.Paths)
	if err != nil {
		for _, h := range inputs.Hubs {
			e.Meter().Read(h.Key, 0, 0, time.Time{}, err)
		}
		return run, err
	}
	for i, h := range inputs.Hubs {
		if risk := source.Warning(connections[i]); risk != "" {
			e.Notef("warning: hub %q: %s", h.Hub.Name, risk)
		}
		before, began := run.Report(), time.Now()
		ended := countRows(e, f, &rows, h.Key.String(), connections[i])
		err := rows.readTables(ctx, h, connections[i], s.Tables)
		if err == nil {
			err = rows.readHub(ctx, h, connections[i], func(in render.Input) error { return take(run.Run, in) })
		}
		ended()
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return run, cause
			}
			e.Meter().Read(h.Key, 0, 0, time.Time{}, err)
			return run, err
		}
		run.Hubs[h.Key] = difference(before, run.Report())
		e.Meter().Read(h.Key, run.Hubs[h.Key].Rows, run.Hubs[h.Key].Active, began, nil)
		e.Warn(emptyHub(h.Hub, run.Hubs[h.Key]))
	}
	for _, x := range run.Excluded() {
		e.Notef("excluded: %s (%s: %s)", phrase.Count(x.Objects, "object"), x.Pos, &x.Exclusion)
	}
	return run, context.Cause(ctx)
}

// EachNode returns a function that renders nodes and passes the bytes of each to take.
func EachNode(ctx context.Context, take func(node []byte) error) func(*render.Run, render.Input) error {
	return func(run *render.Run, in render.Input) error {
		for n, err := range run.Bytes(ctx, in) {
			if err != nil {
				return err
			}
			if err := take(n.Out); err != nil {
				return &OutputError{err}
			}
		}
		return nil
	}
}

// OutputError says that writing failed, and not the rows.
type OutputError struct{ Err error }

func (e *OutputError) Error() string { return e.Err.Error() }

// countRows shows a count of the rows while a run reads them. It shows none if the run
// writes to the terminal meanwhile, or reads rows from it.
func countRows(e *session.Engine, f *RenderOptions, rows *RowSource, hub string, c endpoint.Connection) (ended func()) {
	rows.read = nil
	if f.Stream || c.Path == "-" {
		return func() {}
	}
	counting, ended := e.Counting("reading rows of hub " + hub)
	rows.read = func() { counting.Add(1) }
	return ended
}

// HubsRun is a run of all hubs, with a report for each.
type HubsRun struct {
	*render.Run
	Hubs map[lynq.HubKey]render.Report
}

func difference(before, after render.Report) render.Report {
	return render.Report{
		Rows: after.Rows - before.Rows, Active: after.Active - before.Active,
		Nodes: after.Nodes - before.Nodes, Objects: after.Objects - before.Objects,
		FailedNodes: after.FailedNodes - before.FailedNodes, Expired: after.Expired - before.Expired,
	}
}

// emptyHub warns of a hub without nodes.
func emptyHub(h *form.Hub, r render.Report) lynq.Problems {
	var warnings lynq.Problems
	switch {
	case r.Rows == 0:
		warnings.Add(h.Pos, "", "hub %q has no rows", h.Name)
	case r.Active == 0 && r.Expired > 0:
		warnings.Add(h.Pos, "", "hub %q has no active row among %s: %s of them expired (column %q)", h.Name, phrase.Count(r.Rows, "row"), phrase.Count(r.Expired, "active row"), h.Expires.Column)
	case r.Active == 0:
		warnings.Add(h.Pos, "", "hub %q has no active row among %s", h.Name, phrase.Count(r.Rows, "row"))
	}
	return warnings
}
