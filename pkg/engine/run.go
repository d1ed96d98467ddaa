package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// How long requests under way may take after an interruption, how long it may take to
// record that, and how long the locks may take to be given back, then and else. A
// process manager kills ten seconds after it has interrupted.
const (
	interruptionGrace       = 7 * time.Second
	interruptedSaveGrace    = time.Second
	interruptedReleaseGrace = 2 * time.Second
	releaseGrace            = 15 * time.Second
)

// RunOptions are those of all use cases that carry plans out.
type RunOptions struct {
	Mode Mode
	// LockTimeout is how long to wait for another run on the same hub.
	LockTimeout time.Duration
	// Events: Kubernetes events are recorded on inventories.
	Events bool
	// Concurrency is how many nodes are written at once.
	Concurrency int
}

// DefaultRunOptions are those of a run unless options say otherwise.
func DefaultRunOptions() RunOptions {
	return RunOptions{Mode: ModeRun, LockTimeout: 5 * time.Minute, Events: true, Concurrency: 32}
}

// clusterRun is one run of a use case that carries plans out.
type clusterRun struct {
	*Engine
	run      *RunOptions
	client   *kube.Client
	store    *store.Store
	warnings *serverWarnings
	began    time.Time
	warned   []string // what was warned of
	// cleaning: what is done may be due because its namespace is being deleted.
	cleaning bool
	// kept are inventories that need not be listed, nil for none.
	kept *keptInventories
	// observe, where it is not nil, is told of what runs do, too.
	observe func(apply.Event)
}

// newClusterRun begins one.
func (e *Engine) newClusterRun(o *RunOptions, client *kube.Client, warnings *serverWarnings) clusterRun {
	r := clusterRun{Engine: e, run: o, client: client, warnings: warnings, began: time.Now()}
	if client != nil {
		r.store = store.New(client.ConfigMaps())
	}
	return r
}

// onCluster connects to a cluster, and has a run perform there what carries plans out.
func (e *Engine) onCluster(ctx context.Context, access *kube.Access, timeout time.Duration, o *RunOptions, perform func(context.Context, clusterRun) error) error {
	ctx, cancel := Deadline(ctx, timeout)
	defer cancel()
	client, warnings, err := e.connect(access)
	if err != nil {
		return err
	}
	return perform(ctx, e.newClusterRun(o, client, warnings))
}

// refused tells what guards have against the plans.
func (r *clusterRun) refused(plans []plan.Plan) error {
	var refusals []plan.Refusal
	for i := range plans {
		refusals = append(refusals, plans[i].Refusals...)
	}
	return r.refuse(refusals)
}

// refuse says why, as people or scripts want it. Nothing speaks against it where there
// are no refusals.
func (r *clusterRun) refuse(refusals []plan.Refusal) error {
	if len(refusals) == 0 {
		return nil
	}
	r.metrics().Refused(refusals)
	if err := r.View.Printer(r.run.Mode).Refuse(refusals); err != nil {
		return Fail(err)
	}
	return &Error{Outcome: Refused, Err: ErrReported, Summary: "nothing was touched"}
}

// showPlans is a client dry run: the plans, and nothing done.
func (r *clusterRun) showPlans(plans []plan.Plan) error {
	if err := r.View.Printer(r.run.Mode).Plan(plans); err != nil {
		return Fail(err)
	}
	failedNodes, blocked, unmet := 0, 0, 0
	for i := range plans {
		for _, n := range plans[i].Nodes {
			if n.Desired != nil && n.Desired.Failed != nil {
				failedNodes++
			}
			if n.Unmet != "" {
				unmet++
			}
		}
		blocked += plans[i].Counts[plan.ActionBlock]
	}
	var wrong []string
	if failedNodes > 0 {
		wrong = append(wrong, lynq.Count(failedNodes, "node")+" could not be planned")
	}
	if blocked > 0 {
		wrong = append(wrong, lynq.Count(blocked, "object")+" would be in conflict")
	}
	if unmet > 0 {
		wrong = append(wrong, lynq.Count(unmet, "node")+" would be skipped")
	}
	if len(wrong) == 0 {
		return nil
	}
	return &Error{Outcome: Failed, Err: ErrReported, Summary: strings.Join(wrong, ", ") + "; nothing was touched"}
}

// runPlans carries plans out, for real or as a server dry run. What is done
// afterwards, unless something went wrong or it is a dry run, is still part of the run.
// It is done after an interruption too, of which the summary tells.
func (r *clusterRun) runPlans(ctx context.Context, plans []plan.Plan, o apply.Options, afterwards func(context.Context, *apply.Summary) error) error {
	runner := r.runner(o)
	return r.reported(ctx, plans, func(reporter apply.Reporter) (*apply.Summary, error) {
		runner.Reporter = reporter
		summary, err := runner.Run(ctx, plans)
		if !summary.DryRun && (err == nil || summary.Interrupted) && afterwards != nil {
			err = errors.Join(err, afterwards(ctx, summary))
		}
		return summary, err
	})
}

// runner carries out plans of the run.
func (r *clusterRun) runner(o apply.Options) *apply.Runner {
	o.Concurrency, o.DryRun, o.Began, o.Grace = r.run.Concurrency, r.run.Mode == ModeServer, r.began, interruptionGrace
	o.Version = r.Version
	runner := &apply.Runner{Cluster: r.client, Inventories: r.measuredStore(), Causes: newCauses(r.client), Now: time.Now, Options: o}
	if o.Unready {
		runner.Objects = r.client
	}
	if r.run.Events {
		runner.Recorder = r.client.Recorder(hostName())
	}
	return runner
}

// reported has a run shown as it goes, with what the server warns of, and the plans
// when it has ended.
func (r *clusterRun) reported(ctx context.Context, plans []plan.Plan, run func(apply.Reporter) (*apply.Summary, error)) error {
	reporter := r.measured(r.View.Reporter(r.run.Mode))
	defer func() { _ = reporter.Close() }() // Result has its error
	r.warnings.to(reporter.Report)
	told := tellInterruption(ctx, reporter.Report)
	summary, err := run(observed{reporter, r.observe})
	told()
	r.warnings.to(nil)
	if summary.DryRun {
		err = errors.Join(err, reporter.Plan(plans))
	} else {
		err = errors.Join(err, reporter.Result(plans))
	}
	return outcome(ctx, summary, err)
}

// observed is a Reporter, beside which another is told.
type observed struct {
	apply.Reporter
	also func(apply.Event)
}

// Report implements apply.Reporter.
func (o observed) Report(e apply.Event) {
	o.Reporter.Report(e)
	if o.also != nil {
		o.also(e)
	}
}

// hostName names this machine, or pod, to people.
func hostName() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
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

// outcome is how a run ended, as an error that knows its outcome.
func outcome(ctx context.Context, s *apply.Summary, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), context.Canceled):
		return context.Canceled
	case len(s.Failed) > 0:
		return &Error{
			Outcome: Failed, Err: cmp.Or(err, ErrReported), Summary: undone(s.Failed) + "; run it again when that is fixed",
			denied: slices.ContainsFunc(s.Failed, func(n apply.FailedNode) bool { return slices.ContainsFunc(n.Problems, saysDenied) }),
		}
	}
	return Fail(err)
}

// undone says how many nodes did not end well. A node that was skipped, such as one of a
// rollout that stopped, is as it was: it counts apart.
func undone(failed []apply.FailedNode) string {
	skipped := 0
	for i := range failed {
		if failed[i].Outcome == apply.OutcomeSkipped {
			skipped++
		}
	}
	bad := len(failed) - skipped
	were := " was skipped"
	if skipped != 1 {
		were = " were skipped"
	}
	switch {
	case skipped == 0:
		return lynq.Count(bad, "node") + " did not end well"
	case bad == 0:
		return lynq.Count(skipped, "node") + were
	}
	return fmt.Sprintf("%s did not end well, and %d%s", lynq.Count(bad, "node"), skipped, were)
}
