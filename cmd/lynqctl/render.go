package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// renderFlags are the flags of render; validate has some of them.
type renderFlags struct {
	inputFlags
	clusterFlags
	deadlineFlag
	sources      []string
	nodes        []string
	selector     string
	format       string
	stream       bool
	keepGoing    bool
	allowVarying bool
	workers      int
	// shuffle brings rows into another order, where it is not nil.
	shuffle *rand.Rand
	// nothing is what a failure says of the output that there is not.
	nothing string
}

// registerRows registers what all commands have that read rows.
func (f *renderFlags) registerRows(cmd *cobra.Command) {
	f.registerSources(cmd)
	cmd.Flags().IntVar(&f.workers, "concurrency", 0, "rows to render at once (0: one per processor)")
}

func (f *renderFlags) registerSources(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.sources, "source", nil, "read rows from this URL instead of the hub's source; HUB=URL where there are several hubs")
	f.registerDeadline(cmd)
}

// renderRows renders all hubs into a sink. The run tells how far it came,
// whatever the error.
func (a *app) renderRows(ctx context.Context, f *renderFlags, s render.Settings, inputs *form.Inputs, hubs []hubPrograms, sink render.Sink) (*hubsRun, error) {
	run := &hubsRun{Run: render.NewRun(s, sink, allPrograms(hubs)), hubs: map[lynq.HubKey]render.Report{}}
	rows := rowSource{stdin: a.stdin, override: f.sources, shuffle: f.shuffle, passwords: passwords{getenv: a.getenv, secrets: inputs.Secrets, cluster: f.access.SecretValue}}
	connections, err := rows.connections(ctx, hubs, f.paths)
	if err != nil {
		return run, err
	}
	for i, h := range hubs {
		before := run.Report()
		ended := a.countRows(f, &rows, h.key.String(), connections[i])
		err := rows.renderHub(ctx, run.Run, h, connections[i])
		ended()
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return run, err
		}
		run.hubs[h.key] = difference(before, run.Report())
		a.warn(emptyHub(h.hub, run.hubs[h.key]))
	}
	return run, context.Cause(ctx)
}

// countRows shows how many rows have been read, unless the terminal has something
// else to show meanwhile.
func (a *app) countRows(f *renderFlags, rows *rowSource, hub string, c lynq.Connection) (ended func()) {
	rows.read = nil
	if f.stream || c.Path == "-" {
		return func() {}
	}
	counting, ended := a.counting("reading rows of hub " + hub)
	if counting != nil {
		rows.read = func() { counting.Add(1) }
	}
	return ended
}

// hubsRun is a run of all hubs, and what it did of each.
type hubsRun struct {
	*render.Run
	hubs map[lynq.HubKey]render.Report
}

func difference(before, after render.Report) render.Report {
	return render.Report{
		Rows: after.Rows - before.Rows, Active: after.Active - before.Active,
		Nodes: after.Nodes - before.Nodes, Objects: after.Objects - before.Objects,
		FailedNodes: after.FailedNodes - before.FailedNodes,
	}
}

// emptyHub warns of a hub that makes no node.
func emptyHub(h *form.Hub, r render.Report) lynq.Problems {
	var warnings lynq.Problems
	switch {
	case r.Rows == 0:
		warnings.Add(h.Pos, "", "hub %q has no rows", h.Name)
	case r.Active == 0:
		warnings.Add(h.Pos, "", "hub %q has no active row among %s", h.Name, count(r.Rows, "row"))
	}
	return warnings
}

// settings checks the flags that say what is written.
func (f *renderFlags) settings() (render.Settings, error) {
	s := render.Settings{KeepGoing: f.keepGoing, Workers: f.workers}
	if err := errors.Join(oneOf("-o", f.format, "yaml", "json"), f.checkDeadline()); err != nil {
		return s, err
	}
	if f.format == "json" {
		s.Format = render.JSON
	}
	switch {
	case f.workers < 0:
		return s, badUsage(errors.New("--concurrency cannot be negative"))
	case f.namespace != "" && !lynq.IsDNS1123Label(f.namespace):
		return s, badUsage(fmt.Errorf("-n: namespace %q is none that Kubernetes accepts (lower case letters, digits and dashes, at most 63)", f.namespace))
	}
	if f.selector != "" {
		selector, err := labels.Parse(f.selector)
		if err != nil {
			return s, badUsage(badSelector(err))
		}
		s.Selector = selector
	}
	if len(f.nodes) > 0 {
		s.Nodes = map[string]bool{}
		for _, n := range f.nodes {
			s.Nodes[n] = true
		}
	}
	return s, nil
}

// options finds the namespace, asking the kubeconfig only where neither flag
// nor form nor hub has one.
func (f *renderFlags) options(forms []*form.Form, inputs *form.Inputs) (render.Options, error) {
	o := render.Options{Namespace: f.namespace, AllowVarying: f.allowVarying}
	for _, form := range forms {
		hub := inputs.Hub(form)
		if o.Namespace != "" || form.Namespace != "" || hub == nil || hub.Namespace != "" {
			continue
		}
		ns, err := f.access.Namespace()
		if err != nil {
			return o, badUsage(err)
		}
		o.FallbackNamespace = ns
		break
	}
	return o, nil
}
