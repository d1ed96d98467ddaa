package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"

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
	// nothing is what a failure says of the output that there is not.
	nothing string
}

func (a *app) renderCommand() *cobra.Command {
	f := renderFlags{format: "yaml", nothing: "nothing was written"}
	cmd := &cobra.Command{
		Use:   "render -f PATH...",
		Short: "Render rows and forms into manifests",
		Long: `Render every active row of every hub with every form of the hub, and write the
manifests to standard output. No cluster is needed.

The output is all or nothing: it is written when everything has rendered, since
what follows in a pipe would take a part for the whole. The same rows and forms
always give the same bytes.`,
		Example: `  # Show what one tenant gets
  lynqctl render -f forms/ --node acme-web

  # Render from a read replica, for review in Git
  lynqctl render -f forms/ --source mysql://ci@replica.example/crm > manifests.yaml

  # Hand a form and rows from elsewhere to kubectl
  lynqctl render -f forms/ --source csv:tenants.csv | kubectl apply --server-side -f -`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.render(cmd.Context(), &f) },
	}
	f.inputFlags.register(cmd)
	f.clusterFlags.register(cmd)
	f.registerRows(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&f.format, "output", "o", f.format, "yaml, or json for one object per line")
	flags.StringSliceVar(&f.nodes, "node", nil, "only these nodes, named UID-FORM")
	flags.StringVarP(&f.selector, "selector", "l", "", "only objects with these labels, as kubectl takes them")
	flags.BoolVar(&f.stream, "stream", false, "write as it goes, not when everything has rendered")
	flags.BoolVar(&f.allowVarying, "allow-nondeterministic", false, "let resources with creationPolicy Once call functions such as randAlphaNum")
	flags.BoolVar(&f.keepGoing, "keep-going", false, "write the nodes that render, though others do not")
	return cmd
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

// render is the command: inputs, then rows, then output.
func (a *app) render(ctx context.Context, f *renderFlags) error {
	settings, err := f.settings()
	if err != nil {
		return err
	}
	ctx, cancel := f.deadline(ctx)
	defer cancel()
	inputs, hubs, err := f.prepare(ctx, a, f.options, "nothing was rendered")
	if err != nil {
		return err
	}
	if f.stream {
		out := bufio.NewWriterSize(a.stdout, 1<<16)
		run, err := a.renderRows(ctx, f, settings, inputs, hubs, render.NewStream(out))
		if flushErr := out.Flush(); err == nil && flushErr != nil {
			err = &render.SinkError{Err: flushErr}
		}
		return f.ended(run.Run, err)
	}
	spool := render.NewSpool(render.DefaultSpoolMemory)
	defer func() { _ = spool.Close() }() // what it kept has been written, or must not be
	run, err := a.renderRows(ctx, f, settings, inputs, hubs, spool)
	if err != nil || run.Err() != nil && !f.keepGoing || len(run.Missing()) > 0 {
		return f.ended(run.Run, err)
	}
	if _, err := spool.WriteTo(a.stdout); err != nil {
		return failed(fmt.Errorf("write the manifests: %w", err))
	}
	return f.ended(run.Run, nil)
}

// renderRows renders all hubs into a sink. The run tells how far it came,
// whatever the error.
func (a *app) renderRows(ctx context.Context, f *renderFlags, s render.Settings, inputs *form.Inputs, hubs []hubPrograms, sink render.Sink) (*hubsRun, error) {
	run := &hubsRun{Run: render.NewRun(s, sink, allPrograms(hubs)), hubs: map[string]render.Report{}}
	rows := rowSource{stdin: a.stdin, override: f.sources, passwords: passwords{getenv: a.getenv, secrets: inputs.Secrets, cluster: f.access.SecretValue}}
	connections, err := rows.connections(ctx, hubs, f.paths)
	if err != nil {
		return run, err
	}
	for i, h := range hubs {
		before := run.Report()
		if err := rows.renderHub(ctx, run.Run, h, connections[i]); err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return run, err
		}
		run.hubs[h.hub.Name] = difference(before, run.Report())
		a.warn(emptyHub(h.hub, run.hubs[h.hub.Name]))
	}
	return run, context.Cause(ctx)
}

// hubsRun is a run of all hubs, and what it did of each.
type hubsRun struct {
	*render.Run
	hubs map[string]render.Report
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
			return s, badUsage(fmt.Errorf("-l: %w", err))
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
