package apply

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/schedule"
	"github.com/lynqctl/lynqctl/pkg/apply/wait"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// Inventories saves inventories. *store.Store implements it.
type Inventories interface {
	// Save creates the inventory's ConfigMap, or updates the version that was loaded or
	// saved last. It returns the inventory with the server's values.
	Save(ctx context.Context, inv *inventory.Inventory) (*inventory.Inventory, error)
	// Reread reads an inventory that another client changed since read. It fails unless only
	// fields of others changed.
	Reread(ctx context.Context, read *inventory.Inventory) (*inventory.Inventory, error)
	// Check returns an error unless the inventory's ConfigMap still exists, as it was
	// loaded or saved last, and nobody is deleting it.
	Check(ctx context.Context, inv *inventory.Inventory) error
	// Restore replaces the ConfigMap of a deleted inventory that a finalizer blocks. Before
	// it deletes the old one, detach removes the owner references of all objects, and
	// returns the permit.
	Restore(ctx context.Context, inv *inventory.Inventory, detach func() (decide.Permit, error)) (*inventory.Inventory, error)
	// Remove deletes the ConfigMap of a permit and removes our finalizer.
	Remove(ctx context.Context, inv *inventory.Inventory, permit decide.Permit) error
}

// Runner executes plans.
type Runner struct {
	Cluster     Cluster
	Inventories Inventories
	Recorder    report.Recorder // for Kubernetes events, may be nil
	Causes      Causes          // for objects that aren't ready, may be nil
	// Objects reads unchanged objects after the run, to find those that aren't ready. If it
	// is nil, the run doesn't check them.
	Objects  observe.ObjectReader
	Reporter report.Reporter
	Now      func() time.Time
	// Secrets hide the run's secret values in results, events and records.
	Secrets *redact.Filter
	Worker  Worker // executes nodes in another way, may be nil
	Options Options
}

// Options say how to execute plans.
type Options struct {
	// Concurrency limits the nodes that are written at once.
	Concurrency int
	// Wait makes the run wait until written objects are ready, by their policies. Without
	// it, the run waits only for a rollout, or for a new namespace or kind.
	Wait bool
	// Unready makes the run report unchanged objects that aren't ready. It fails with them if
	// it waits.
	Unready bool
	// Sighted has each hub's notes of ready objects from its last run.
	Sighted map[lynq.HubKey]string
	// DryRun makes the server try each write without keeping it. The run writes no records.
	DryRun bool
	// Finalizer adds the node's finalizer to inventories that the run writes.
	Finalizer bool
	// Version is the version of lynqctl. Inventories record which version renders them.
	Version string
	// Rollouts are the limits of forms with a rollout.
	Rollouts map[schedule.Form]schedule.Limits
	// Began is the start of the work that ends with this run, or zero for the start of the
	// run.
	Began time.Time
	// Grace limits the time of pending requests after an interruption.
	Grace time.Duration
}

// rules identifies the rules of readiness, together with lynqctl's version.
const rules = "1 "

// Run executes plans and returns the result. Plans that run after the others are at the end
// of the slice. The error is the context's if the run was interrupted. The result has all
// failures.
func (r *Runner) Run(ctx context.Context, plans []plan.Plan) (*report.Result, error) {
	began := r.Options.Began
	if began.IsZero() {
		began = r.Now()
	}
	first := slices.IndexFunc(plans, func(p plan.Plan) bool { return p.After })
	if first < 0 {
		first = len(plans)
	}
	run := newRun(ctx, r, plans[:first]) // none of these may wait for the plans after them
	result := &report.Result{Nodes: report.ResultsOf(plans)}
	defer run.close()
	failed := run.noteLeaving(ctx, plans[:first])
	var running sync.WaitGroup
	for _, queue := range run.queues(plans[:first], result.Nodes) {
		running.Go(func() { run.dispatch(ctx, queue) })
	}
	running.Wait()
	run.after(ctx, plans[first:], result.Nodes)
	if r.Recorder != nil {
		r.Recorder.Flush(run.finishing)
	}
	s := report.Summarize(plans, result.Nodes, failed, run.rollouts)
	if r.Objects != nil && !r.Options.DryRun && ctx.Err() == nil {
		left := unchanged{objects: r.Objects, causes: r.Causes, reporter: r.Reporter, now: r.Now, sighted: r.Options.Sighted, rules: rules + r.Options.Version, secrets: r.Secrets}
		s.Unready, s.Sighted = left.unready(ctx, result.Nodes)
	}
	s.Waits, s.DryRun, s.Interrupted, s.Elapsed = r.Options.Wait, r.Options.DryRun, ctx.Err() != nil, r.Now().Sub(began)
	result.Summary = s
	r.Reporter.Report(report.Event{Time: r.Now(), Type: report.EventSummary, Summary: s})
	return result, context.Cause(ctx)
}

// run is one run of a Runner.
type run struct {
	*Runner
	slots        schedule.Slots // one for each working node
	tracker      *wait.Tracker
	dependencies *schedule.Dependencies
	rollouts     schedule.Rollouts
	brakes       schedule.Brakes
	budget       *budget
	// watching ends with the run. finishing continues for the grace period after an
	// interruption, so that the run can record pending writes.
	watching, finishing context.Context
	stops               []func()
}

func newRun(ctx context.Context, r *Runner, plans []plan.Plan) *run {
	run := &run{
		Runner:       r,
		slots:        schedule.NewSlots(r.Options.Concurrency),
		dependencies: schedule.NewDependencies(plans),
		rollouts:     schedule.NewRollouts(r.Options.Rollouts),
		budget:       newBudget(),
	}
	if !r.Options.DryRun && r.Worker == nil {
		run.brakes = schedule.NewBrakes(r.Options.Rollouts, plans)
	}
	watching, stop := context.WithCancel(ctx)
	finishing, end := lease.Outlast(ctx, r.Options.Grace)
	run.watching, run.finishing = watching, finishing
	run.stops = []func(){stop, end, run.waitForWatches}
	run.tracker = wait.New(watching, r.Cluster)
	return run
}

// waitForWatches waits until no watch runs.
func (r *run) waitForWatches() { r.tracker.Wait() }

func (r *run) close() {
	for _, stop := range r.stops {
		stop()
	}
}

// queues returns the nodes with work in their order. Each form has one queue for nodes that
// need turns of its rollout, and one for the others. results are in the same order as the
// nodes of plans.
func (r *run) queues(plans []plan.Plan, results []report.NodeResult) [][]*nodeRun {
	r.rollouts.Note(plans)
	type key struct {
		form  schedule.Form
		turns bool
	}
	index := map[key]int{}
	var queues [][]*nodeRun
	n := new(nodeRun)
	for k := range plans {
		p := &plans[k]
		work := 0
		of := results[:len(p.Nodes)]
		results = results[len(p.Nodes):]
		for i := range p.Nodes {
			n.set(r, p, &p.Nodes[i], &of[i])
			if n.idle() {
				n.conclude(report.OutcomeUnchanged)
				r.dependencies.EndNode(p.Nodes[i].Key(), report.OutcomeUnchanged.End())
				r.dependencies.Release(p.Nodes[i].Key(), report.OutcomeUnchanged.End())
				continue
			}
			work++
			n.waiter.announce()
			r.rollouts[n.form()].Keep(n.waiter.share)
			r.rollouts[n.form()].Open(n.plan.Key())
			n.braked = r.brakes[n.form()].ShareOf(n.plan)
			r.brakes[n.form()].Keep(n.braked)
			key := key{n.form(), takesTurns(n.waiter.share) || takesTurns(n.braked)}
			q, known := index[key]
			if !known {
				q = len(queues)
				index[key], queues = q, append(queues, nil)
			}
			queues[q] = append(queues[q], n)
			n = new(nodeRun)
		}
		r.Reporter.Report(report.Event{Time: r.Now(), Type: report.EventPlan, NodeID: lynq.NodeID{Hub: p.Hub}, Counts: p.Counts, AdoptedCounts: p.Adopted, Nodes: work, Evidence: p.Evidence})
	}
	for _, queue := range queues {
		slices.SortStableFunc(queue, func(a, b *nodeRun) int { return cmp.Compare(a.stage(), b.stage()) })
	}
	return queues
}

// dispatch runs the nodes of one queue. A node that waits for other nodes blocks neither a
// turn nor a slot.
func (r *run) dispatch(ctx context.Context, queue []*nodeRun) {
	var running sync.WaitGroup
	defer running.Wait()
	for _, n := range queue {
		switch {
		case n.plan.Unmet != "":
			if n.plan.Suspended {
				n.ending.reason = plan.ReasonSuspended
			}
			n.leftOut(report.OutcomeSkipped, n.plan.Unmet)
		case len(n.plan.After) > 0:
			running.Go(func() {
				if n.awaitOthers(ctx) && r.admit(ctx, n) {
					r.carry(ctx, n)
				}
			})
		case r.admit(ctx, n):
			running.Go(func() { r.carry(ctx, n) })
		}
	}
}

// admit waits for a node's turn and for a slot. If it gets none, this run leaves the node
// out.
func (r *run) admit(ctx context.Context, n *nodeRun) bool {
	rollout := r.rollouts[n.form()]
	switch turn, why := rollout.Begin(ctx, n.waiter.share, n.plan.Key()); turn {
	case schedule.TurnNever, schedule.TurnNext:
		n.stopped, n.result.Waits = true, turn == schedule.TurnNext
		n.leftOut(report.OutcomeSkipped, why)
		return false
	case schedule.TurnLater:
		n.leftOut(report.OutcomeInterrupted, beforeItBegan)
		return false
	}
	switch turn, why := r.brakes[n.form()].Begin(ctx, n.braked); turn {
	case schedule.TurnNever:
		n.stopped, n.ending.reason = true, plan.ReasonFormStopped
		n.leftOut(report.OutcomeSkipped, why)
		return false
	case schedule.TurnLater:
		n.leftOut(report.OutcomeInterrupted, beforeItBegan)
		return false
	}
	if !r.slots.Take(ctx) {
		n.leftOut(report.OutcomeInterrupted, beforeItBegan)
		rollout.End(n.waiter.share, n.plan.Key(), report.OutcomeUnchanged.End())
		return false
	}
	return true
}

// carry executes an admitted node.
func (r *run) carry(ctx context.Context, n *nodeRun) {
	defer r.slots.Give()
	n.perform(ctx)
	r.rollouts[n.form()].End(n.waiter.share, n.plan.Key(), n.result.Outcome.End())
	causes, why := n.result.Causes()
	r.brakes[n.form()].End(n.braked, n.result.Outcome.End(), causes, why)
}

// takesTurns reports whether a node waits for its turn.
func takesTurns(s schedule.Share) bool { return s == schedule.ShareRow || s == schedule.ShareForm }

// beforeItBegan is the reason for nodes that no longer get a turn.
const beforeItBegan = "interrupted before it began"

// placeholderUID is the uid of an inventory that a server dry run doesn't create.
const placeholderUID types.UID = "00000000-0000-0000-0000-000000000000"
