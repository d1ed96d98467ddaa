package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/filewatch"
	"github.com/lynqctl/lynqctl/internal/serve"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/engine"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/metrics"
)

// watchFlags are the flags of watch.
type watchFlags struct {
	apply     applyFlags
	manifests watchManifestFlags
	listen    string
	perNode   bool
	logFormat string
	window    time.Duration
}

// The formats of the log.
const (
	logText = "text"
	logJSON = "json"
)

func (f *watchFlags) register(flags *pflag.FlagSet) {
	f.apply.render.registerCluster(flags)
	flags.IntVar(&f.apply.run.Concurrency, "concurrency", f.apply.run.Concurrency, "nodes to write at once")
	flags.BoolVar(&f.apply.run.Events, "events", f.apply.run.Events, "record Kubernetes events on inventories")
	flags.StringVar(&f.apply.run.dryRun, "dry-run", f.apply.run.dryRun, "none, client (print the plan of one look) or server (have the server try every write)")
	flags.StringVar(&f.apply.maxDelete, "max-delete", f.apply.maxDelete, "hold deletions that exceed this many of a hub's nodes (a number or a percentage)")
	flags.DurationVar(&f.window, "max-delete-window", f.window, "how long deleted nodes count against --max-delete (0: each round counts its own)")
	flags.StringSliceVar(&f.apply.Tombstones.Paths, "tombstones", nil, "files or directories of tombstones: manifests of objects that are to go, with the labels that they must have")
	flags.StringVar(&f.listen, "listen", "", "address to answer /healthz, /readyz and /metrics at, such as :8080")
	flags.BoolVar(&f.perNode, "metrics-per-node", false, "one series for each node in metrics, and not one for each hub and form")
	flags.StringVar(&f.logFormat, "log-format", f.logFormat, "text or json")
	f.manifests.register(flags)
	flags.Lookup("timeout").Usage = "stop after this time (0 is never)"
}

func (a *app) watchCommand() *cobra.Command {
	f := watchFlags{apply: defaultApplyFlags(), manifests: defaultWatchManifestFlags(), logFormat: logText, window: plan.DefaultWindow}
	f.apply.run.LockTimeout = 0
	cmd := &cobra.Command{
		Use:   "watch -f PATH...",
		Short: "Keep a cluster as rows and forms say",
		Long: `Keep a cluster as rows and forms say, until it is stopped: the rows of each hub
are read every syncInterval, and its objects and inventories are watched. What
changed is applied, by the same plan, policies and guards as in apply.

Deletions that a guard refuses are held, and all else is done; watch approve
lets them through. --max-delete also counts the nodes that any instance deleted
within --max-delete-window. While a source cannot be read, the rows that were
read last count. Inputs that change are loaded again, also on SIGHUP; where they
are bad, the last good ones stay. A second instance stands by, and apply, delete
and orphans by hand have the hub when a round has ended.

With --dry-run, one look is shown as apply --dry-run shows it, with its exit
codes, and nothing is written: 3 says that deletions would be held.

On a terminal a table of the hubs is below the log. With --listen, /healthz,
/readyz and, for Prometheus, /metrics answer there.

Exit codes: 0 a dry run found no trouble, or --print-manifests has printed; 2
bad input or usage, nothing was touched; 1 --timeout has ended it, and 130 an
interruption: the inventories are correct.`,
		Example: `  # Until Ctrl-C, or for an hour
  lynqctl watch -f forms/ --timeout=1h

  # What its first look would do
  lynqctl watch -f forms/ --dry-run=client

  # What runs it in the cluster
  lynqctl watch -f forms/ --print-manifests --image registry.example/lynqctl:1

  # Let through what a guard holds
  lynqctl watch approve crm -n shop`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := f.options(cmd.Flags())
			switch {
			case err != nil:
				return err
			case f.manifests.wanted:
				return a.printManifests(cmd.Context(), cmd.Flags(), &f.manifests, o)
			}
			return a.watch(cmd.Context(), &f, o)
		},
	}
	f.register(cmd.Flags())
	cmd.AddCommand(a.watchApproveCommand())
	return cmd
}

// options checks the flags, and makes options of them.
func (f *watchFlags) options(flags *pflag.FlagSet) (*engine.ApplyOptions, error) {
	if err := f.manifests.check(flags); err != nil {
		return nil, err
	}
	if err := oneOf("--log-format", f.logFormat, logText, logJSON); err != nil {
		return nil, err
	}
	if f.window < 0 {
		return nil, engine.BadUsage(fmt.Errorf("--max-delete-window=%s: a window can't be negative (pass a duration such as 1h, or 0)", f.window))
	}
	o, err := f.apply.options()
	if err != nil {
		return nil, err
	}
	o.Limits.Window = f.window
	return o, f.checkDryRun(o.Mode)
}

// checkDryRun refuses what means nothing where there is one look alone.
func (f *watchFlags) checkDryRun(m engine.Mode) error {
	switch {
	case m == engine.ModeRun:
	case f.manifests.wanted:
		return engine.BadUsage(errors.New("--dry-run is one look, and --print-manifests takes none (leave one of them out)"))
	case f.listen != "":
		return engine.BadUsage(errors.New("--dry-run is one look, and serves nothing (leave --listen out)"))
	}
	return nil
}

func (a *app) watch(ctx context.Context, f *watchFlags, o *engine.ApplyOptions) error {
	if o.Mode != engine.ModeRun {
		return a.engine("").Watch(ctx, &engine.WatchOptions{ApplyOptions: *o})
	}
	if f.listen == "" && f.perNode {
		return engine.BadUsage(errors.New("--metrics-per-node is about the metrics at --listen (give it an address)"))
	}
	m, err := metrics.New(metrics.Options{PerNode: f.perNode, Process: true, Version: buildVersion()})
	if err != nil {
		return engine.Fail(err)
	}
	ctx, cancel := engine.Deadline(ctx, o.Timeout)
	defer cancel()
	o.Timeout, o.Yes = 0, true // what a person would be asked is for the guards
	if f.listen != "" {
		// One that stands by, or whose source is down, is ready too.
		stop, err := serve.Start(ctx, f.listen, serve.Options{Metrics: m.Handler(), Ready: func() error { return nil }})
		if err != nil {
			return engine.BadUsage(fmt.Errorf("--listen cannot be used: %w", err))
		}
		defer stop()
	}
	reload, stop := onReload()
	defer stop()
	board := &watchBoard{Metrics: m}
	view, closed := a.newWatchView(f.logFormat, board)
	defer closed()
	e := a.engine("")
	e.View, e.Metrics = view, board
	return e.Watch(ctx, &engine.WatchOptions{ApplyOptions: *o, Reload: reload, Files: watchFiles, Observer: board})
}

// watchFiles is engine.WatchFiles by the events of file systems.
func watchFiles(look func() form.Places) (changed <-chan struct{}, stop func(), err error) {
	w, err := filewatch.New(func() filewatch.Places { return look() })
	if err != nil {
		return nil, nil, err
	}
	return w.Changed(), w.Close, nil
}

// onReload has a value for each SIGHUP.
func onReload() (reload <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 1)
	if some := reloadSignals(); len(some) > 0 { // Notify with none is for all
		signal.Notify(signals, some...)
	}
	return signals, func() { signal.Stop(signals) }
}
