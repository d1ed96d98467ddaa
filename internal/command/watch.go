package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/filewatch"
	"github.com/lynqctl/lynqctl/internal/serve"
	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/diffcmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/internal/usecase/watchcmd"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/form/files"
	"github.com/lynqctl/lynqctl/pkg/metrics"
)

// watchFlags are the flags of watch.
type watchFlags struct {
	apply     cmdflags.Apply
	manifests manifestFlags
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
	f.apply.Render.RegisterCluster(flags)
	cmdflags.RegisterKeptTo(flags, &f.apply.Render.Options.Access)
	cmdflags.RegisterStrict(flags, &f.apply.Render.Options.Inputs)
	flags.IntVar(&f.apply.Run.Concurrency, "concurrency", f.apply.Run.Concurrency, "number of nodes to process in parallel")
	flags.BoolVar(&f.apply.Run.Events, "events", f.apply.Run.Events, "emit Kubernetes events")
	flags.StringVar(&f.apply.Run.DryRun, "dry-run", f.apply.Run.DryRun, "none, client (print the plan; also without a value), or server (also submit every write as a server-side dry run)")
	flags.Lookup("dry-run").NoOptDefVal = string(session.ModeClient)
	f.apply.Run.RegisterExpand(flags)
	flags.StringVar(&f.apply.MaxDelete, "max-delete", f.apply.MaxDelete, "hold deletions that exceed this many of a hub's nodes (a number or a percentage)")
	flags.DurationVar(&f.window, "max-delete-window", f.window, "how long deleted nodes count against --max-delete (0: each round counts its own)")
	flags.BoolVar(&f.apply.Given.Limits.AllowEmpty, "allow-empty", false, "start without a form, and allow deleting every node of a hub that has no active rows")
	flags.StringSliceVar(&f.apply.Given.Limits.EmptyColumns, "allow-empty-column", nil, "don't refuse if these columns are suddenly empty in many rows")
	flags.StringSliceVar(&f.apply.Given.Tombstones.Paths, "tombstones", nil, "files or directories with tombstones: objects to delete if their labels match")
	flags.StringVar(&f.listen, "listen", "", "address that serves /healthz, /readyz, and /metrics, for example :8080")
	flags.BoolVar(&f.perNode, "metrics-per-node", false, "report metrics per node instead of per hub and form")
	flags.StringVar(&f.logFormat, "log-format", f.logFormat, "output format: text or json")
	f.manifests.register(flags)
}

// watchCommand returns watch, and the commands below it.
func watchCommand(a *app) *cobra.Command {
	f := watchFlags{apply: cmdflags.NewApply(), manifests: defaultManifestFlags(), logFormat: logText, window: decide.DefaultWindow}
	f.apply.Run.LockTimeout = 0
	cmd := &cobra.Command{
		Use:   "watch -f PATH...",
		Short: "Keep a cluster in sync with your rows",
		Long:  watchLong,
		Example: `  # Run for an hour, or until Ctrl-C
  lynqctl watch -f forms/ --timeout=1h

  # Preview the first round
  lynqctl watch -f forms/ --dry-run=client

  # Print manifests that run watch in the cluster
  lynqctl watch -f forms/ --print-manifests --image registry.example/lynqctl:1`,
		Args: cmdflags.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := f.options(cmd.Flags())
			switch {
			case err != nil:
				return err
			case f.manifests.wanted:
				return printManifests(cmd.Context(), a, cmd.Flags(), &f.manifests, o)
			}
			return runWatch(cmd.Context(), a, &f, o)
		},
	}
	f.register(cmd.Flags())
	cmd.AddCommand(approveCommand(a))
	return cmd
}

// options checks the flags and turns them into options.
func (f *watchFlags) options(flags *pflag.FlagSet) (*applycmd.Options, error) {
	if err := f.manifests.check(flags); err != nil {
		return nil, err
	}
	if err := cmdflags.OneOf("--log-format", f.logFormat, logText, logJSON); err != nil {
		return nil, err
	}
	if f.window < 0 {
		return nil, session.BadUsage(fmt.Errorf("--max-delete-window=%s: a window can't be negative (pass a duration such as 1h, or 0)", f.window))
	}
	o, err := f.apply.Options()
	if err != nil {
		return nil, err
	}
	o.Limits.Window = f.window
	return o, f.checkDryRun(o.Mode)
}

// checkDryRun refuses flags that mean nothing in a single dry run.
func (f *watchFlags) checkDryRun(m session.Mode) error {
	switch {
	case m == session.ModeRun:
	case f.manifests.wanted:
		return session.BadUsage(errors.New("--dry-run is one look, and --print-manifests takes none (leave one of them out)"))
	case f.listen != "":
		return session.BadUsage(errors.New("--dry-run is one look, and serves nothing (leave --listen out)"))
	}
	return nil
}

// runWatch carries out watch.
func runWatch(ctx context.Context, a *app, f *watchFlags, o *applycmd.Options) error {
	if o.Mode != session.ModeRun {
		e := a.RunEngine(&f.apply.Run)
		if a.FromEnvironment != "" {
			e.View.Note(a.FromEnvironment)
		}
		o.Explain = diffcmd.Explain
		return watchcmd.Run(ctx, e, &watchcmd.Options{Apply: *o})
	}
	if f.listen == "" && f.perNode {
		return session.BadUsage(errors.New("--metrics-per-node is about the metrics at --listen (give it an address)"))
	}
	m, err := metrics.New(metrics.Options{PerNode: f.perNode, Process: true, Version: a.Version})
	if err != nil {
		return session.Fail(err)
	}
	ctx, cancel := session.Deadline(ctx, o.Timeout)
	defer cancel()
	o.Timeout, o.Yes = 0, true // guards decide instead of a person
	told := &board{Metrics: m, refused: refusals{now: time.Now}}
	at := ""
	if f.listen != "" {
		// An instance that stands by is ready.
		address, stop, err := serve.Start(ctx, f.listen, serve.Options{Metrics: m.Handler(), Ready: told.ready})
		if err != nil {
			return session.BadUsage(fmt.Errorf("--listen cannot be used: %w", err))
		}
		defer stop()
		at = address
	}
	reload, stop := onReload()
	defer stop()
	shown, closed := newWatchView(a, f.logFormat, told)
	defer closed()
	if a.FromEnvironment != "" {
		shown.Note(a.FromEnvironment)
	}
	e := a.Engine("")
	e.View, e.Metrics = shown, told
	err = watchcmd.Run(ctx, e, &watchcmd.Options{Apply: *o, Reload: reload, Files: watchFiles, Observer: told, Listen: at})
	if stopped := StopOf(ctx); stopped != nil {
		shown.Note(stopped.Note(told.leases()))
		return &LoggedError{Err: stopped}
	}
	return err
}

// watchFiles implements watchcmd.Files with the events of file systems.
func watchFiles(look func() files.Places) (changed <-chan struct{}, stop func(), err error) {
	w, err := filewatch.New(func() filewatch.Places { return look() })
	if err != nil {
		return nil, nil, err
	}
	return w.Changed(), w.Close, nil
}

// onReload returns a channel that has a value for each SIGHUP.
func onReload() (reload <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 1)
	if some := reloadSignals(); len(some) > 0 { // Notify without signals would pass on all of them
		signal.Notify(signals, some...)
	}
	return signals, func() { signal.Stop(signals) }
}

// watchLong is the help of watch.
const watchLong = `Run apply continuously. watch reads the rows of each hub every syncInterval, and
watches the hub's objects and inventories. It applies each change with the same
plan, policies, and guards as apply.

If a guard refuses deletions, watch holds them and applies everything else. To
approve them, run 'lynqctl watch approve'. --max-delete also counts nodes that
any instance deleted within --max-delete-window.

If watch can't read a source, it keeps the rows that it read last. It reloads
hubs and forms when the files change, or on SIGHUP. If the new files have
errors, it keeps the last valid version. If a hub or form leaves your files,
lynqctl keeps its objects.

A second instance is a standby. You can run apply, delete, and orphans while
watch runs. These commands get the hub when watch ends its round.

With --dry-run, watch previews one round, and writes nothing. The exit codes are
those of apply --dry-run. Exit code 3 means that watch would hold deletions.

Exit codes:
  0    the dry run found no problem, or --print-manifests printed
  1    --timeout ended watch; the inventories are correct
  2    invalid input or usage; nothing changed
  130  interrupted; the inventories are correct`
