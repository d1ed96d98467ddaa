package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/apply"
)

// How long requests under way may take after an interruption, and how long the
// locks may take to be given back, then and else. A process manager kills ten
// seconds after it has interrupted.
const (
	interruptionGrace       = 7 * time.Second
	interruptedReleaseGrace = 2 * time.Second
	releaseGrace            = 15 * time.Second
)

// reporter tells of a run. The ticker makes the view of a terminal move.
func (j *applyJob) reporter(tick <-chan time.Time) *ui.Reporter {
	return ui.NewReporter(ui.Options{
		Out: ui.NewStream(j.stdout, j.getenv), Err: ui.NewStream(j.stderr, j.getenv),
		Format: ui.Format(j.flags.output), DryRun: j.flags.dryRun != "none", Now: time.Now, Tick: tick,
	})
}

// showPlans is a client dry run: the plans, and nothing done.
func (j *applyJob) showPlans(plans []apply.Plan) error {
	if err := j.reporter(nil).Plan(plans); err != nil {
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
	if failedNodes+blocked > 0 {
		return &exitError{code: exitFailed, err: errSaid, summary: fmt.Sprintf("%s could not be planned, %s belong to somebody else; nothing was touched",
			count(failedNodes, "node"), count(blocked, "object"))}
	}
	return nil
}

// runPlans carries plans out, for real or as a server dry run.
func (j *applyJob) runPlans(ctx context.Context, plans []apply.Plan) error {
	ticker := time.NewTicker(ui.Redraw)
	defer ticker.Stop()
	reporter := j.reporter(ticker.C)
	defer func() { _ = reporter.Close() }() // Result has its error
	runner := &apply.Runner{
		Cluster: j.client, Records: j.store, Reporter: reporter, Now: time.Now,
		Options: apply.Options{
			Concurrency: j.flags.writers, Wait: j.flags.wait, DryRun: j.flags.dryRun == "server",
			Finalizer: !j.flags.noFinalizer, Rollouts: rollouts(j.hubs), Began: j.began, Grace: interruptionGrace,
		},
	}
	if j.flags.events {
		host, err := os.Hostname()
		if err != nil {
			host = "unknown"
		}
		runner.Recorder = j.client.Recorder(host)
	}
	j.warnings.to(reporter.Report)
	summary, err := runner.Run(ctx, plans)
	j.warnings.to(nil)
	if !summary.DryRun && err == nil {
		err = j.saveHubs(ctx)
	}
	if summary.DryRun {
		err = errors.Join(err, reporter.Plan(plans))
	} else {
		err = errors.Join(err, reporter.Result(plans))
	}
	return outcome(ctx, summary, err)
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

// saveHubs records what the run saw of each hub.
func (j *applyJob) saveHubs(ctx context.Context) error {
	var errs []error
	for _, h := range j.hubs {
		errs = append(errs, j.saveHub(ctx, h))
	}
	return errors.Join(errs...)
}
