package apply

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/gate"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/schedule"
	"github.com/lynqctl/lynqctl/pkg/apply/wait"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Inventories saves inventories. It is implemented by *store.Store.
type Inventories interface {
	// Save creates the inventory's ConfigMap, or updates the one that was
	// loaded or saved last. It gives the inventory with what the server says of
	// it.
	Save(ctx context.Context, inv *inventory.Inventory) (*inventory.Inventory, error)
	// Check tells whether the inventory's ConfigMap is there and nobody deletes it, as when
	// it was loaded or saved last: the error says that it is gone.
	Check(ctx context.Context, inv *inventory.Inventory) error
	// Restore makes the ConfigMap of an inventory again whose deletion a finalizer
	// holds. Before the old one goes, detach takes off all that belongs to it, and gives
	// the permit for its deletion.
	Restore(ctx context.Context, inv *inventory.Inventory, detach func() (gate.Permit, error)) (*inventory.Inventory, error)
	// Remove deletes the ConfigMap of a permit and takes our finalizer off.
	Remove(ctx context.Context, inv *inventory.Inventory, permit gate.Permit) error
}

// Runner carries plans out.
type Runner struct {
	Cluster     Cluster
	Inventories Inventories
	Recorder    report.Recorder // of Kubernetes events; nil for none
	Causes      report.Causes   // of what does not get ready; nil for none
	// Objects are read after the run to find what it left as it is and is not ready;
	// nil for nothing.
	Objects  observe.ObjectReader
	Reporter report.Reporter
	Now      func() time.Time
	Worker   Worker // carries nodes out; nil for the way of this package
	Options  Options
}

// Options say how plans are carried out.
type Options struct {
	// Concurrency is how many nodes are written at once.
	Concurrency int
	// Wait: wait for what is written to become ready, as the policies say.
	// Without it nothing is waited for but what a rollout or a new namespace or
	// kind needs.
	Wait bool
	// Unready: what is left as it is and not ready is told.
	Unready bool
	// Sighted are the notes of the last run on each hub about which objects are ready.
	Sighted map[lynq.HubKey]string
	// DryRun has the server try each write without keeping it. Records are not
	// written.
	DryRun bool
	// Finalizer: inventories that are written get the node's finalizer.
	Finalizer bool
	// Version is lynqctl's: which version renders what is recorded, is recorded too.
	Version string
	// Rollouts are those of the forms that have one.
	Rollouts map[schedule.Form]schedule.Limits
	// Began is when the work began of which the run is the last part; zero: with
	// the run.
	Began time.Time
	// Grace is how long requests under way may last after the run is
	// interrupted.
	Grace time.Duration
}

// rules names the rules by which objects are ready, beside lynqctl's version.
const rules = "1 "

// Run carries plans out, those that come after the others at the end of the slice, and
// tells how it went. Its error is the context's, where
// the run was interrupted; whatever failed is in the result.
func (r *Runner) Run(ctx context.Context, plans []plan.Plan) (*report.Result, error) {
	began := r.Options.Began
	if began.IsZero() {
		began = r.Now()
	}
	first := slices.IndexFunc(plans, func(p plan.Plan) bool { return p.After })
	if first < 0 {
		first = len(plans)
	}
	run := newRun(ctx, r, plans[:first]) // none of which may wait for what comes after
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
		left := report.Unchanged{Objects: r.Objects, Causes: r.Causes, Reporter: r.Reporter, Now: r.Now, Sighted: r.Options.Sighted, Rules: rules + r.Options.Version}
		s.Unready, s.Sighted = left.Unready(ctx, result.Nodes)
	}
	s.DryRun, s.Interrupted, s.Elapsed = r.Options.DryRun, ctx.Err() != nil, r.Now().Sub(began)
	result.Summary = s
	r.Reporter.Report(report.Event{Time: r.Now(), Type: report.EventSummary, Summary: s})
	return result, context.Cause(ctx)
}

// run is one run of a Runner.
type run struct {
	*Runner
	slots    schedule.Slots // one for each node that is at work
	tracker  *wait.Tracker
	promises *schedule.Promises
	rollouts schedule.Rollouts
	budget   *schedule.Budget
	// watching ends with the run; finishing outlasts an interruption by the
	// grace, so that what is under way can be recorded.
	watching, finishing context.Context
	stops               []func()
}

func newRun(ctx context.Context, r *Runner, plans []plan.Plan) *run {
	run := &run{
		Runner:   r,
		slots:    schedule.NewSlots(r.Options.Concurrency),
		promises: schedule.NewPromises(plans),
		rollouts: schedule.NewRollouts(r.Options.Rollouts),
		budget:   schedule.NewBudget(),
	}
	watching, stop := context.WithCancel(ctx)
	finishing, end := context.WithCancel(context.WithoutCancel(ctx))
	grace := context.AfterFunc(ctx, func() {
		grace := r.Options.Grace
		if lost := (*lease.LostError)(nil); errors.As(context.Cause(ctx), &lost) {
			grace = 0 // others may write from now on
		}
		timer := time.AfterFunc(grace, end)
		context.AfterFunc(finishing, func() { timer.Stop() })
	})
	run.watching, run.finishing = watching, finishing
	run.stops = []func(){stop, func() { grace() }, end, run.waitForWatches}
	run.tracker = wait.New(watching, r.Cluster)
	return run
}

// waitForWatches leaves nothing running behind.
func (r *run) waitForWatches() { r.tracker.Wait() }

func (r *run) close() {
	for _, stop := range r.stops {
		stop()
	}
}

// queues are the nodes that have something to do, in their order: of each form
// those that wait for turns of its rollout, and those that do not. Their results are in
// that order too.
func (r *run) queues(plans []plan.Plan, results []report.NodeResult) [][]*nodeRun {
	r.rollouts.Note(plans)
	type key struct {
		form  schedule.Form
		turns bool
	}
	index := map[key]int{}
	var queues [][]*nodeRun
	for k := range plans {
		p := &plans[k]
		work := 0
		of := results[:len(p.Nodes)]
		results = results[len(p.Nodes):]
		for i := range p.Nodes {
			n := newNodeRun(r, p, &p.Nodes[i], &of[i])
			if n.idle() {
				n.conclude(report.OutcomeUnchanged)
				r.promises.EndNode(p.Nodes[i].Key(), report.OutcomeUnchanged.End())
				r.promises.Release(p.Nodes[i].Key(), report.OutcomeUnchanged.End())
				continue
			}
			work++
			n.lookout.announce()
			r.rollouts[n.form()].Keep(n.lookout.share)
			r.rollouts[n.form()].Open(n.plan.Key())
			key := key{n.form(), n.lookout.share == schedule.ShareRow || n.lookout.share == schedule.ShareForm}
			q, known := index[key]
			if !known {
				q = len(queues)
				index[key], queues = q, append(queues, nil)
			}
			queues[q] = append(queues[q], n)
		}
		r.Reporter.Report(report.Event{Time: r.Now(), Type: report.EventPlan, NodeID: lynq.NodeID{Hub: p.Hub}, Counts: p.Counts, AdoptedCounts: p.Adopted, Nodes: work, Evidence: p.Evidence})
	}
	for _, queue := range queues {
		slices.SortStableFunc(queue, func(a, b *nodeRun) int { return cmp.Compare(a.stage(), b.stage()) })
	}
	return queues
}

// dispatch runs the nodes of one queue. Those that wait for other nodes keep no one
// from a turn or a slot meanwhile.
func (r *run) dispatch(ctx context.Context, queue []*nodeRun) {
	var running sync.WaitGroup
	defer running.Wait()
	for _, n := range queue {
		switch {
		case n.plan.Unmet != "":
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

// admit waits for the turn of a node and for a slot. Where there is none the node is
// left out.
func (r *run) admit(ctx context.Context, n *nodeRun) bool {
	rollout := r.rollouts[n.form()]
	switch turn, why := rollout.Begin(ctx, n.lookout.share, n.plan.Key()); turn {
	case schedule.TurnNever, schedule.TurnNext:
		n.stopped, n.result.Waits = true, turn == schedule.TurnNext
		n.leftOut(report.OutcomeSkipped, why)
		return false
	case schedule.TurnLater:
		n.leftOut(report.OutcomeInterrupted, beforeItBegan)
		return false
	}
	if !r.slots.Take(ctx) {
		n.leftOut(report.OutcomeInterrupted, beforeItBegan)
		rollout.End(n.lookout.share, n.plan.Key(), report.OutcomeUnchanged.End())
		return false
	}
	return true
}

// carry carries a node out that was admitted.
func (r *run) carry(ctx context.Context, n *nodeRun) {
	defer r.slots.Give()
	n.perform(ctx)
	r.rollouts[n.form()].End(n.lookout.share, n.plan.Key(), n.result.Outcome.End())
}

// beforeItBegan is why a node is left out whose turn does not come any more.
const beforeItBegan = "interrupted before it began"

// placeholderUID stands for an inventory that a server dry run does not make.
const placeholderUID types.UID = "00000000-0000-0000-0000-000000000000"
