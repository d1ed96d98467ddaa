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

// RenderOptions say what is read and rendered.
type RenderOptions struct {
	Inputs  InputOptions
	Access  kube.Access
	Timeout time.Duration // 0 is none
	// Namespace of the nodes, whatever the inputs say; "" is what they say.
	Namespace string
	// Sources replace those of hubs: URL, or HUB=URL.
	Sources []string
	// Answers keeps those of an API, which sends again only what changed; nil keeps none.
	Answers *httprows.Answers
	// Shard has the rows that the run is of; zero for all.
	Shard lynq.Shard
	// Settings narrow what is rendered. KeepGoing in it is that of the program.
	Settings render.Settings
	// RefuseVarying: no resource may call functions that vary, not even one with
	// creationPolicy Once, because a later run replaces what this run writes.
	RefuseVarying bool
	// Stream: what is rendered is written as it goes.
	Stream bool
	// KeepGoing: nodes that render are wanted though others do not.
	KeepGoing bool
	// Shuffle brings rows into another order, where it is not nil.
	Shuffle *rand.Rand
	// Nothing is what a failure says of the output that there is not.
	Nothing string
}

// Options finds the namespace, asking the kubeconfig only where neither option nor
// form nor hub has one.
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

// RenderRows has take render the rows of each hub. The run tells how far it came,
// whatever the error.
func RenderRows(ctx context.Context, e *session.Engine, f *RenderOptions, s render.Settings, inputs *Inputs, take func(*render.Run, render.Input) error) (*HubsRun, error) {
	s.Now = e.Now()
	run := &HubsRun{Run: render.NewRun(s, AllPrograms(inputs.Hubs)), Hubs: map[lynq.HubKey]render.Report{}}
	rows := RowSource{Stdin: e.Stdin, Override: f.Sources, answers: f.Answers, shuffle: f.Shuffle, Passwords: Passwords{Getenv: e.Getenv, Secrets: inputs.Secrets, Cluster: SecretsOf(e, &f.Access)}}
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
		err := rows.readHub(ctx, h, connections[i], func(in render.Input) error { return take(run.Run, in) })
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

// EachNode hands the bytes of each node on.
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

// OutputError is that the output failed, not the rows.
type OutputError struct{ Err error }

func (e *OutputError) Error() string { return e.Err.Error() }

// countRows shows how many rows have been read, unless the terminal has something
// else to show meanwhile.
func countRows(e *session.Engine, f *RenderOptions, rows *RowSource, hub string, c endpoint.Connection) (ended func()) {
	rows.read = nil
	if f.Stream || c.Path == "-" {
		return func() {}
	}
	counting, ended := e.Counting("reading rows of hub " + hub)
	rows.read = func() { counting.Add(1) }
	return ended
}

// HubsRun is a run of all hubs, and what it did of each.
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

// emptyHub warns of a hub that makes no node.
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
