package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/inventory"
)

// How long requests under way may take after an interruption, and how long the
// locks may take to be given back, then and else. A process manager kills ten
// seconds after it has interrupted.
const (
	interruptionGrace       = 7 * time.Second
	interruptedReleaseGrace = 2 * time.Second
	releaseGrace            = 15 * time.Second
)

// runFlags are the flags of all commands that carry plans out.
type runFlags struct {
	dryRun      string
	lockTimeout time.Duration
	events      bool
	output      string
	writers     int
}

func defaultRunFlags() runFlags {
	return runFlags{dryRun: "none", lockTimeout: 5 * time.Minute, events: true, output: "table", writers: 32}
}

func (f *runFlags) registerRun(cmd *cobra.Command) {
	f.registerOutput(cmd)
	flags := cmd.Flags()
	flags.DurationVar(&f.lockTimeout, "lock-timeout", f.lockTimeout, "how long to wait for another run on the same hub")
	flags.IntVar(&f.writers, "concurrency", f.writers, "nodes to write at once")
	flags.BoolVar(&f.events, "events", f.events, "record Kubernetes events on inventories")
}

// registerOutput registers what also commands have that touch no records.
func (f *runFlags) registerOutput(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&f.output, "output", "o", f.output, "table, wide, name or yaml for a report; json for one event per line")
	flags.StringVar(&f.dryRun, "dry-run", f.dryRun, "none, client (print the plan) or server (have the server try every write)")
}

func (f *runFlags) checkRun() error {
	if err := oneOf("--dry-run", f.dryRun, "none", "client", "server"); err != nil {
		return err
	}
	if err := oneOf("-o", f.output, "table", "wide", "name", "yaml", "json"); err != nil {
		return err
	}
	switch {
	case f.writers < 1:
		return badUsage(errors.New("--concurrency must be at least 1"))
	case f.lockTimeout < 0:
		return badUsage(errors.New("--lock-timeout cannot be negative"))
	}
	return nil
}

// clusterRun is one run of a command that carries plans out.
type clusterRun struct {
	*app
	run      *runFlags
	client   *kube.Client
	store    *inventory.Store
	warnings *serverWarnings
	began    time.Time
	warned   []string // what was warned of
	// cleaning: what is done may be due because its namespace is being deleted.
	cleaning bool
}

// newClusterRun begins one.
func (a *app) newClusterRun(f *runFlags, client *kube.Client, warnings *serverWarnings) clusterRun {
	r := clusterRun{app: a, run: f, client: client, warnings: warnings, began: time.Now()}
	if client != nil {
		r.store = inventory.NewStore(client.ConfigMaps())
	}
	return r
}

// reporter tells of a run. The ticker makes the view of a terminal move.
func (r *clusterRun) reporter(tick <-chan time.Time) *ui.Reporter {
	return ui.NewReporter(ui.Options{
		Out: ui.NewStream(r.stdout, r.getenv), Err: ui.NewStream(r.stderr, r.getenv),
		Format: ui.Format(r.run.output), DryRun: r.run.dryRun != "none", Now: time.Now, Tick: tick,
	})
}

// refused tells what guards have against the plans.
func (r *clusterRun) refused(plans []apply.Plan) error {
	var refusals []apply.Refusal
	for i := range plans {
		refusals = append(refusals, plans[i].Refusals...)
	}
	if len(refusals) == 0 {
		return nil
	}
	return r.refuse(refusals)
}

// refuse says why, as people or scripts want it.
func (r *clusterRun) refuse(refusals []apply.Refusal) error {
	if err := r.reporter(nil).Refuse(refusals); err != nil {
		return failed(err)
	}
	return &exitError{code: exitRefused, err: errSaid, summary: "nothing was touched"}
}

// showPlans is a client dry run: the plans, and nothing done.
func (r *clusterRun) showPlans(plans []apply.Plan) error {
	if err := r.reporter(nil).Plan(plans); err != nil {
		return failed(err)
	}
	failedNodes, blocked := 0, 0
	for i := range plans {
		for _, n := range plans[i].Nodes {
			if n.Desired != nil && n.Desired.Failed != nil {
				failedNodes++
			}
		}
		blocked += plans[i].Counts[apply.ActionBlock]
	}
	var wrong []string
	if failedNodes > 0 {
		wrong = append(wrong, count(failedNodes, "node")+" could not be planned")
	}
	if blocked > 0 {
		wrong = append(wrong, count(blocked, "object")+" would be in conflict")
	}
	if len(wrong) == 0 {
		return nil
	}
	return &exitError{code: exitFailed, err: errSaid, summary: strings.Join(wrong, ", ") + "; nothing was touched"}
}

// runPlans carries plans out, for real or as a server dry run. What is to be
// done afterwards, unless something went wrong or it is a dry run, is still part
// of the run.
func (r *clusterRun) runPlans(ctx context.Context, plans []apply.Plan, o apply.Options, afterwards func(context.Context, *apply.Summary) error) error {
	ticker := time.NewTicker(ui.Redraw)
	defer ticker.Stop()
	reporter := r.reporter(ticker.C)
	defer func() { _ = reporter.Close() }() // Result has its error
	o.Concurrency, o.DryRun, o.Began, o.Grace = r.run.writers, r.run.dryRun == "server", r.began, interruptionGrace
	o.Version = buildVersion()
	runner := &apply.Runner{Cluster: r.client, Records: r.store, Reporter: reporter, Now: time.Now, Options: o}
	if r.run.events {
		host, err := os.Hostname()
		if err != nil {
			host = "unknown"
		}
		runner.Recorder = r.client.Recorder(host)
	}
	r.warnings.to(reporter.Report)
	told := tellInterruption(ctx, reporter.Report)
	summary, err := runner.Run(ctx, plans)
	told()
	r.warnings.to(nil)
	if !summary.DryRun && err == nil && afterwards != nil {
		err = afterwards(ctx, summary)
	}
	if summary.DryRun {
		err = errors.Join(err, reporter.Plan(plans))
	} else {
		err = errors.Join(err, reporter.Result(plans))
	}
	return outcome(ctx, summary, err)
}

// tellInterruption tells people that their interruption has been heard, for what
// has begun may take some seconds to end. What it gives is to be called when it has.
func tellInterruption(ctx context.Context, report func(apply.Event)) (ended func()) {
	end, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-end:
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), context.Canceled) {
				report(apply.Event{Type: apply.EventWarning, Message: "interrupted: what has begun is finished and recorded first; a second interrupt stops at once"})
			}
		}
	}()
	return func() { close(end); <-over }
}

// outcome is how a run ended, as an exit code.
func outcome(ctx context.Context, s *apply.Summary, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), context.Canceled):
		return context.Canceled
	case len(s.Failed) > 0:
		return &exitError{code: exitFailed, err: cmp.Or(err, errSaid), summary: count(len(s.Failed), "node") + " did not end well; run it again when that is mended"}
	}
	return failed(err)
}
