package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/planfile"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// Limits, counted from an interruption: for requests in progress, and for recording the run.
// Then follow limits for releasing the locks, after an interruption and otherwise. Process
// managers kill ten seconds after they interrupted.
const (
	InterruptionGrace       = 7 * time.Second
	recordingGrace          = 8500 * time.Millisecond
	interruptedReleaseGrace = 1500 * time.Millisecond
	releaseGrace            = 15 * time.Second
)

// RunOptions are the options of all use cases that carry out plans.
type RunOptions struct {
	Mode Mode
	// LockShard is the shard of the run, so that other shards of the hub may run beside it.
	// With zero, the run has the hub alone.
	LockShard lynq.Shard
	// LockTimeout limits how long the run waits for another run on the same hub.
	LockTimeout time.Duration
	// Events records Kubernetes events on inventories.
	Events bool
	// Concurrency limits how many nodes the run writes at once.
	Concurrency int
	// Plan is a reviewed plan. The run carries out only that plan, and asks nobody. nil
	// means no plan.
	Plan *planfile.File
	// WritePlan writes the plan file of a dry run, unless a guard refuses the plan. nil
	// writes none.
	WritePlan func(*planfile.File) error
}

// DefaultRunOptions returns the defaults of a run.
func DefaultRunOptions() RunOptions {
	return RunOptions{Mode: ModeRun, LockTimeout: 5 * time.Minute, Events: true, Concurrency: 32}
}

// Run is one run of a use case that carries out plans.
type Run struct {
	Engine     *Engine
	RunOptions *RunOptions
	Client     *kube.Client
	Store      *store.Store
	Warnings   *ServerWarnings
	Began      time.Time
	Warned     []string // warnings shown so far
	// Cleaning is set if a namespace in deletion may be the reason for the run.
	Cleaning bool
	// Kept are inventories that need no list, nil for none.
	Kept *KeptInventories
	// Observe, if not nil, also gets the events of the run.
	Observe func(report.Event)
	// Name is the run's name in Leases and histories.
	Name string
	// Noted has the facts for histories in addition to the result.
	Noted     Noted
	histories *histories
}

// NewRun returns a new run.
func (e *Engine) NewRun(o *RunOptions, client *kube.Client, warnings *ServerWarnings) Run {
	r := Run{
		Engine: e, RunOptions: o, Client: client, Warnings: warnings, Began: time.Now(), Name: runName(),
		histories: &histories{known: map[lynq.HubKey]*corev1.ConfigMap{}},
	}
	if client != nil {
		r.Store = store.New(client.ConfigMaps())
	}
	return r
}

// With returns a run on the hubs of several runs. It writes only while each of them holds
// its own Lease. It keeps no inventories.
func (r *Run) With(others ...*Run) Run {
	all := *r
	all.Kept = nil
	clients := []*kube.Client{r.Client}
	for _, o := range others {
		clients = append(clients, o.Client)
	}
	all.Client = r.Client.While(func() error {
		for _, c := range clients {
			if err := c.MayWrite(); err != nil {
				return err
			}
		}
		return nil
	})
	all.Store = store.New(all.Client.ConfigMaps())
	return all
}

// OnCluster connects to a cluster, and calls perform with a new run.
func (e *Engine) OnCluster(ctx context.Context, access *kube.Access, timeout time.Duration, o *RunOptions, perform func(context.Context, Run) error) error {
	ctx, cancel := Deadline(ctx, timeout)
	defer cancel()
	client, warnings, err := e.Connect(access)
	if err != nil {
		return err
	}
	return perform(ctx, e.NewRun(o, client, warnings))
}

// Refused shows the refusals of the plans, and returns them as an error.
func (r *Run) Refused(plans []plan.Plan) error { return r.Refuse(Refusals(plans)) }

// Refuse shows refusals, and returns an error. Without refusals, it returns nil.
func (r *Run) Refuse(refusals []plan.Refusal) error {
	if len(refusals) == 0 {
		return nil
	}
	r.Engine.Meter().Refused(refusals)
	if err := r.Engine.View.Printer(r.RunOptions.Mode).Refuse(refusals); err != nil {
		return Fail(err)
	}
	return &Error{Outcome: Refused, Err: ErrReported, Summary: "nothing changed"}
}

// TellStrays notes each object that would lose an owner. Commands that write nothing call it.
func (r *Run) TellStrays(plans []plan.Plan) {
	for i := range plans {
		for k := range plans[i].Nodes {
			for _, l := range plans[i].Nodes[k].Loosens() {
				r.Engine.Notef("%s: %s", l.Ref, l.Tells())
			}
		}
	}
}

// ShowPlans shows the plans of a client dry run, and does nothing.
func (r *Run) ShowPlans(plans []plan.Plan) error {
	r.TellStrays(plans)
	if err := r.Engine.View.Printer(r.RunOptions.Mode).Plan(plans); err != nil {
		return Fail(err)
	}
	failedNodes, blocked, unmet := 0, 0, 0
	for i := range plans {
		for _, n := range plans[i].Nodes {
			if n.Desired != nil && n.Desired.Failed != nil {
				failedNodes++
			}
			if n.Unmet != "" && !n.Suspended {
				unmet++
			}
		}
		blocked += plans[i].Counts[plan.ActionBlock]
	}
	var wrong []string
	if failedNodes > 0 {
		wrong = append(wrong, phrase.Count(failedNodes, "node")+" could not be planned")
	}
	if blocked > 0 {
		wrong = append(wrong, phrase.Count(blocked, "object")+" would be in conflict")
	}
	if unmet > 0 {
		wrong = append(wrong, phrase.Count(unmet, "node")+" would be skipped")
	}
	if len(wrong) == 0 {
		return nil
	}
	return &Error{Outcome: Failed, Err: ErrReported, Summary: strings.Join(wrong, ", ") + "; nothing changed"}
}

// RunPlans carries out plans, for real or as a server dry run. Then it calls afterwards,
// which still belongs to the run. It also calls it after an interruption, which the summary
// shows. It skips it after a dry run or an error.
func (r *Run) RunPlans(ctx context.Context, plans []plan.Plan, o apply.Options, afterwards func(context.Context, *report.Summary) error) error {
	runner := r.Runner(o)
	return r.Reported(ctx, func(reporter report.Reporter) (*report.Result, error) {
		runner.Reporter = reporter
		return r.Recording(ctx, func(recording context.Context) (*report.Result, error) {
			result, err := runner.Run(ctx, plans)
			if s := result.Summary; !s.DryRun && (err == nil || s.Interrupted) && afterwards != nil && !lease.Lost(ctx) {
				err = errors.Join(err, afterwards(recording, s))
			}
			return result, err
		})
	})
}

// Recording carries a run out, and adds it to the histories of the hubs that it changed. The
// function gets a context that outlasts an interruption, to record what it did. If the run
// lost its Lease, Recording writes nothing, because another run records what it sees.
func (r *Run) Recording(ctx context.Context, run func(recording context.Context) (*report.Result, error)) (*report.Result, error) {
	recording, end := lease.Outlast(ctx, recordingGrace)
	defer end()
	result, err := run(recording)
	if !lease.Lost(ctx) {
		r.remember(recording, result)
		return result, err
	}
	return result, cmp.Or(err, context.Cause(ctx))
}

// Runner returns an apply.Runner with the options of the run.
func (r *Run) Runner(o apply.Options) *apply.Runner {
	o.Concurrency, o.DryRun, o.Began, o.Grace = r.RunOptions.Concurrency, r.RunOptions.Mode == ModeServer, r.Began, InterruptionGrace
	o.Version = r.Engine.Version
	runner := &apply.Runner{Cluster: r.Client, Inventories: r.measuredStore(), Causes: NewCauses(r.Client), Now: time.Now, Options: o, Secrets: r.Engine.Secrets}
	if o.Unready {
		runner.Objects = r.Client
	}
	if r.RunOptions.Events {
		runner.Recorder = r.Client.Recorder(HostName())
	}
	return runner
}

// Reported shows a run in progress with the server's warnings, and then its result.
func (r *Run) Reported(ctx context.Context, run func(report.Reporter) (*report.Result, error)) error {
	reporter := r.measured(r.Engine.View.Reporter(r.RunOptions.Mode))
	defer func() { _ = reporter.Close() }() // Result returns its error
	r.Warnings.to(reporter.Report)
	told := tellInterruption(ctx, reporter.Report)
	result, err := run(observed{reporter, r.Observe, r.Engine.Secrets})
	told()
	r.Warnings.to(nil)
	err = errors.Join(err, reporter.Result(result))
	return outcome(ctx, result.Summary, err)
}

// observed is a Reporter that hides secret values, and passes events to a second function.
type observed struct {
	report.Reporter
	also    func(report.Event)
	secrets *redact.Filter
}

// Report implements report.Reporter.
func (o observed) Report(e report.Event) {
	e.Message = o.secrets.Hide(e.Message)
	o.Reporter.Report(e)
	if o.also != nil {
		o.also(e)
	}
}

// HostName returns the name of this machine or pod, for people.
func HostName() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
}

// tellInterruption tells people that lynqctl heard their interruption, because requests in
// progress may take some seconds. The caller calls ended at the end of the run.
func tellInterruption(ctx context.Context, tell func(report.Event)) (ended func()) {
	end, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-end:
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), context.Canceled) {
				tell(report.Event{Type: report.EventWarning, Details: report.Details{Message: "interrupted: lynqctl finishes and records its current work; interrupt again to stop at once"}})
			}
		}
	}()
	return func() { close(end); <-over }
}

// outcome turns the result of a run into an error with an outcome.
func outcome(ctx context.Context, s *report.Summary, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), context.Canceled):
		return context.Canceled
	case len(s.Failed) > 0:
		return &Error{
			Outcome: Failed, Err: cmp.Or(err, ErrReported), Summary: undone(s.Failed) + "; fix the cause, then run it again",
			Denied: slices.ContainsFunc(s.Failed, func(n report.NodeResult) bool {
				return slices.ContainsFunc(n.Problems, func(p report.Details) bool { return SaysDenied(p.Message) })
			}),
		}
	case err == nil && s.NotReady() > 0:
		return &Error{Outcome: Failed, Err: ErrReported, Summary: unready(s.NotReady())}
	}
	return Fail(err)
}

// unready counts unchanged objects that aren't ready.
func unready(objects int) string {
	if objects == 1 {
		return "1 unchanged object is not ready"
	}
	return phrase.Count(objects, "unchanged object") + " are not ready"
}

// undone counts the nodes that failed. It counts skipped nodes separately, because they are
// unchanged.
func undone(failed []report.NodeResult) string {
	skipped := 0
	for i := range failed {
		if failed[i].Outcome == report.OutcomeSkipped {
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
		return phrase.Count(bad, "node") + " failed"
	case bad == 0:
		return phrase.Count(skipped, "node") + were
	}
	return fmt.Sprintf("%s failed, and %d%s", phrase.Count(bad, "node"), skipped, were)
}
