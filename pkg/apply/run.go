package apply

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
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
	// Restore makes the ConfigMap of an inventory again whose deletion a finalizer
	// holds. Before the old one goes, detach takes off all that belongs to it, and gives
	// the permit for its deletion.
	Restore(ctx context.Context, inv *inventory.Inventory, detach func() (plan.Permit, error)) (*inventory.Inventory, error)
	// Remove deletes the ConfigMap of a permit and takes our finalizer off.
	Remove(ctx context.Context, inv *inventory.Inventory, permit plan.Permit) error
}

// Runner carries plans out.
type Runner struct {
	Cluster     Cluster
	Inventories Inventories
	Recorder    Recorder // of Kubernetes events; nil for none
	Causes      Causes   // of what does not get ready; nil for none
	// Objects are read after the run to find what it left as it is and is not ready;
	// nil for nothing.
	Objects  observe.ObjectReader
	Reporter Reporter
	Now      func() time.Time
	Worker   Worker // carries nodes out; nil for the way of this package
	Options  Options
}

// Causes knows why objects do not get ready.
type Causes interface {
	// Cause says in a line what keeps an object from getting ready, "" where that is
	// not known.
	Cause(ctx context.Context, ref lynq.Ref) string
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
	// DryRun has the server try each write without keeping it. Records are not
	// written.
	DryRun bool
	// Finalizer: inventories that are written get the node's finalizer.
	Finalizer bool
	// Version is lynqctl's: which version renders what is recorded, is recorded too.
	Version string
	// Rollouts are those of the forms that have one.
	Rollouts map[FormKey]Rollout
	// Began is when the work began of which the run is the last part; zero: with
	// the run.
	Began time.Time
	// Grace is how long requests under way may last after the run is
	// interrupted.
	Grace time.Duration
}

// FormKey is a form of a hub.
type FormKey struct {
	Hub  lynq.HubKey
	Form lynq.FormKey
}

// Run carries plans out, those that come after the others at the end of the slice, and
// tells how it went. Its error is the context's, where
// the run was interrupted; whatever failed is in the summary.
func (r *Runner) Run(ctx context.Context, plans []plan.Plan) (*Summary, error) {
	began := r.Options.Began
	if began.IsZero() {
		began = r.Now()
	}
	first := slices.IndexFunc(plans, func(p plan.Plan) bool { return p.After })
	if first < 0 {
		first = len(plans)
	}
	run := newRun(ctx, r, plans[:first]) // none of which may wait for what comes after
	defer run.close()
	var running sync.WaitGroup
	for _, queue := range run.queues(plans[:first]) {
		running.Go(func() { run.dispatch(ctx, queue) })
	}
	running.Wait()
	run.after(ctx, plans[first:])
	if r.Recorder != nil {
		r.Recorder.Flush(run.finishing)
	}
	s := run.stats.summary(plans)
	s.Unready = run.findUnready(ctx)
	s.DryRun, s.Interrupted, s.Elapsed = r.Options.DryRun, ctx.Err() != nil, r.Now().Sub(began)
	r.Reporter.Report(Event{Time: r.Now(), Type: EventSummary, Summary: s})
	return s, context.Cause(ctx)
}

// run is one run of a Runner.
type run struct {
	*Runner
	slots      chan struct{} // one for each node that is at work
	tracker    *tracker
	providers  map[string]*provider
	handovers  map[lynq.Ref]*provider
	departures departures
	order      order
	promised   map[plan.NodeKey][]*provider // all of these, by who is to finish them
	rollouts   map[FormKey]*rollout
	stats      *stats
	budget     *budget
	// watching ends with the run; finishing outlasts an interruption by the
	// grace, so that what is under way can be recorded.
	watching, finishing context.Context
	stops               []func()
}

func newRun(ctx context.Context, r *Runner, plans []plan.Plan) *run {
	run := &run{
		Runner:     r,
		slots:      make(chan struct{}, max(1, r.Options.Concurrency)),
		providers:  providersOf(plans),
		handovers:  handoversOf(plans),
		departures: departuresOf(plans),
		order:      orderOf(plans),
		rollouts:   map[FormKey]*rollout{},
		stats:      newStats(),
		budget:     &budget{streaks: map[streakKey]*streak{}},
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
	run.promised = promisedBy(run.providers, run.handovers, run.departures.byRef)
	run.watching, run.finishing = watching, finishing
	run.stops = []func(){stop, func() { grace() }, end, run.waitForWatches}
	run.tracker = newTracker(watching, r.Cluster)
	for form, o := range r.Options.Rollouts {
		if o.MaxSkew > 0 {
			run.rollouts[form] = newRollout(o)
		}
	}
	return run
}

// waitForWatches leaves nothing running behind.
func (r *run) waitForWatches() { r.tracker.wait() }

func (r *run) close() {
	for _, stop := range r.stops {
		stop()
	}
}

// queues are the nodes that have something to do, in their order: of each form
// those that wait for turns of its rollout, and those that do not.
func (r *run) queues(plans []plan.Plan) [][]*nodeRun {
	r.findRolling(plans)
	type key struct {
		FormKey
		turns bool
	}
	index := map[key]int{}
	var queues [][]*nodeRun
	for k := range plans {
		p := &plans[k]
		work := 0
		for i := range p.Nodes {
			n := newNodeRun(r, p, &p.Nodes[i])
			if n.idle() {
				r.stats.node(n, OutcomeUnchanged)
				r.order.end(p.Nodes[i].NodeKey, OutcomeUnchanged)
				r.finishAll(p.Nodes[i].NodeKey, OutcomeUnchanged)
				continue
			}
			work++
			n.planWaits()
			if n.share == plan.ShareStuck {
				r.rollouts[n.form()].turns.Take(plan.ShareStuck) // before any other begins
			}
			key := key{n.form(), n.share == plan.ShareRow || n.share == plan.ShareForm}
			q, known := index[key]
			if !known {
				q = len(queues)
				index[key], queues = q, append(queues, nil)
			}
			queues[q] = append(queues[q], n)
		}
		r.Reporter.Report(Event{Time: r.Now(), Type: EventPlan, Hub: p.Hub, Counts: p.Counts, AdoptedCounts: p.Adopted, Nodes: work})
	}
	return queues
}

// planWaits notes what the node may wait for.
func (n *nodeRun) planWaits() {
	for i := range n.steps {
		if s := &n.steps[i]; n.mayWait(s) {
			n.tracker.plan(s.ref())
		}
	}
}

// findRolling notes which forms are known to work, and which change some of their nodes.
func (r *run) findRolling(plans []plan.Plan) {
	for k := range plans {
		for i := range plans[k].Nodes {
			n := &plans[k].Nodes[i]
			if o := r.rollouts[FormKey{plans[k].Hub, n.FormKey()}]; o != nil {
				o.proven = o.proven || plan.Proven(n)
			}
		}
	}
	for k := range plans {
		for i := range plans[k].Nodes {
			n := &plans[k].Nodes[i]
			if o := r.rollouts[FormKey{plans[k].Hub, n.FormKey()}]; o != nil && !o.rolling {
				o.rolling = plan.ShareOf(n, o.proven) == plan.ShareForm
			}
		}
	}
}

// dispatch runs the nodes of one queue. Those that wait for other nodes keep no one
// from a turn or a slot meanwhile.
func (r *run) dispatch(ctx context.Context, queue []*nodeRun) {
	var running sync.WaitGroup
	defer running.Wait()
	for _, n := range queue {
		switch {
		case n.plan.Unmet != "":
			n.leftOut(OutcomeSkipped, n.plan.Unmet)
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
	if n.share != plan.ShareStuck { // that has its turn
		if outcome, why := rollout.acquire(ctx, n.share); why != "" {
			n.leftOut(outcome, why)
			return false
		}
	}
	if !r.acquire(ctx) {
		n.leftOut(OutcomeInterrupted, beforeItBegan)
		rollout.release(n.share, n.plan.NodeKey, OutcomeUnchanged)
		return false
	}
	return true
}

// carry carries a node out that was admitted.
func (r *run) carry(ctx context.Context, n *nodeRun) {
	defer r.release()
	n.perform(ctx)
	r.rollouts[n.form()].release(n.share, n.plan.NodeKey, n.outcome)
}

// beforeItBegan is why a node is left out whose turn does not come any more.
const beforeItBegan = "interrupted before it began"

// acquire takes a slot; false means that the context ended.
func (r *run) acquire(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case r.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *run) release() { <-r.slots }

// provider is an object that others wait for: a Namespace or a
// CustomResourceDefinition, before they can be; or one that another node takes
// over, before its own lets it go.
type provider struct {
	node plan.NodeKey
	ref  lynq.Ref
	done chan struct{}
	once sync.Once
	// outcome is set before done is closed.
	outcome Outcome
}

func (p *provider) finish(o Outcome) {
	p.once.Do(func() {
		p.outcome = o
		close(p.done)
	})
}

// finished tells whether what is waited for has ended.
func (p *provider) finished() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// promisedBy are providers by the nodes that finish them.
func promisedBy(providers map[string]*provider, others ...map[lynq.Ref]*provider) map[plan.NodeKey][]*provider {
	promised := map[plan.NodeKey][]*provider{}
	for _, p := range providers {
		promised[p.node] = append(promised[p.node], p)
	}
	for _, m := range others {
		for _, p := range m {
			promised[p.node] = append(promised[p.node], p)
		}
	}
	return promised
}

// finishAll leaves no one waiting for a node that has ended.
func (r *run) finishAll(k plan.NodeKey, o Outcome) {
	for _, p := range r.promised[k] {
		p.finish(o)
	}
}

// handoversOf finds the objects that one node of the plans takes over from
// another.
func handoversOf(plans []plan.Plan) map[lynq.Ref]*provider {
	handovers := map[lynq.Ref]*provider{}
	for k := range plans {
		for i := range plans[k].Nodes {
			steps := plans[k].Nodes[i].Steps
			for j := range steps {
				if steps[j].To != (plan.NodeKey{}) {
					ref := steps[j].Entry.Ref
					handovers[ref] = &provider{node: steps[j].To, ref: ref, done: make(chan struct{})}
				}
			}
		}
	}
	return handovers
}

// providersOf finds the objects that a plan makes for others to need, by what
// they provide: "namespace/acme", or "kind/Widget.example.com".
func providersOf(plans []plan.Plan) map[string]*provider {
	providers := map[string]*provider{}
	for k := range plans {
		p := &plans[k]
		for i := range p.Nodes {
			n := &p.Nodes[i]
			for j := range n.Steps {
				s := &n.Steps[j]
				if s.Object == nil || s.Action == plan.ActionKeep {
					continue
				}
				if key := plan.Provides(s.Object); key != "" {
					providers[key] = &provider{node: n.NodeKey, ref: s.Object.Ref, done: make(chan struct{})}
				}
			}
		}
	}
	return providers
}

// placeholderUID stands for an inventory that a server dry run does not make.
const placeholderUID types.UID = "00000000-0000-0000-0000-000000000000"
