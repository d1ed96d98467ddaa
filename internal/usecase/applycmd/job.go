package applycmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/evidence"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/trust"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
	"github.com/lynqctl/lynqctl/pkg/render"
	"github.com/lynqctl/lynqctl/pkg/render/buffer"
)

// Job is one run of apply.
type Job struct {
	session.Run
	Options *Options
	Inputs  *load.Inputs
	Hubs    []load.HubPrograms

	Rendering
	Records map[lynq.HubKey]*inventory.Hub
	// ended are deleted records of hubs without nodes. This run completes their deletion.
	ended map[lynq.HubKey]*inventory.Hub
	// recordedIn has the namespaces of each hub's inventories.
	recordedIn map[lynq.HubKey][]string

	// compared says how the rows of each hub differ from those of the last run.
	compared map[lynq.HubKey][]string

	// Held has the deletions that this run holds back, by hub.
	Held map[lynq.HubKey]*inventory.HeldDeletions
	// Troubles has the other things that wait for a person, by hub.
	Troubles   map[lynq.HubKey][]inventory.Trouble
	Tombstones []lynq.Tombstone // from files
	// gone maps a hub to digests of tombstones. A run saw that their objects don't exist.
	gone map[lynq.HubKey][]string

	// Continuous is set for one of many rounds. Such a run doesn't list the objects that it
	// keeps.
	Continuous bool
	// Concern selects the nodes to plan, nil means all.
	Concern *decide.Concern
	// Survey returns the nodes of all inputs for a plan that deletes. read reads the rows
	// again. nil means that the plan waits for read.
	Survey func(ctx context.Context, read func(context.Context) ([]*plan.Node, error)) ([]*plan.Node, error)

	// Pages keeps the manifests of a run that ends soon. nil keeps them in memory.
	Pages *buffer.Pages

	begun     *prefetch // lists of the first hub that began early, or nil
	stdinRows load.Replayed
	Tracked   load.KeptNames // names on objects without an inventory; nil if nobody looked
	Adopting  *Adopting      // selects orphans, nil for apply
}

// Rendering holds the nodes that rows and forms render.
type Rendering struct {
	read    time.Time // the time of the query
	Nodes   map[lynq.HubKey][]*plan.Node
	reports map[lynq.HubKey]render.Report
	missing []string
	near    func(missing string) string // suggests a node for an unknown name, "" for none
	Failed  error                       // the nodes that failed to render
	// NextExpiry is the time when the next row of any hub expires. Zero means that none
	// does.
	NextExpiry time.Time
	sources    map[lynq.HubKey]*evidence.Source
	renames    map[lynq.HubKey]*lynq.Renames
}

// Perform reads the rows, takes the Leases, plans, and carries the plans out. It reads the
// cluster once, while no other run has the hubs.
func (j *Job) Perform(ctx context.Context) error {
	change := j.change()
	change.Early = &session.Early{
		Hubs: load.HubKeys(j.Hubs),
		Read: func(ctx context.Context) error {
			some, err := j.Rendered(ctx)
			if err == nil && !some {
				err = session.ErrNothing
			}
			return err
		},
		Check: func(ctx context.Context) ([]plan.Refusal, error) {
			if refusals, err := j.CheckPlan(ctx, command); err != nil || len(refusals) > 0 {
				return refusals, err
			}
			return j.emptyHubs(ctx)
		},
		Ahead: j.beginLook,
	}
	look := change.Look
	change.Look = func(ctx context.Context) ([]plan.Plan, []plan.Refusal, error) {
		if err := j.LoadHubs(ctx); err != nil {
			return nil, nil, session.Untouched(ctx, err)
		}
		return look(ctx)
	}
	return session.Perform(ctx, &j.Run, change)
}

// CarryOut plans all hubs and carries the plans out. The caller read the rows and records
// before.
func (j *Job) CarryOut(ctx context.Context) error { return session.Perform(ctx, &j.Run, j.change()) }

// change returns the steps of apply that follow the reading of rows and records.
func (j *Job) change() *session.Change[[]plan.Plan] {
	j.Noted.Inputs = j.inputs // refused runs note them, too
	return &session.Change[[]plan.Plan]{
		Look: j.plans,
		Try: func(ctx context.Context, plans []plan.Plan) error {
			j.TellEvidence(plans)
			if err := j.explain(ctx, plans); err != nil {
				return session.Untouched(ctx, err)
			}
			if j.RunOptions.Mode == session.ModeServer {
				return j.RunPlans(ctx, plans)
			}
			j.TellRestored(plans)
			return j.ShowPlans(plans)
		},
		Ask: j.agree,
		Do: func(ctx context.Context, _ *session.Locks, plans []plan.Plan) error {
			return j.RunPlans(ctx, plans)
		},
	}
}

// Rendered reads and renders the rows. some is false if the rows show that the run has
// nothing to do.
func (j *Job) Rendered(ctx context.Context) (some bool, err error) {
	if err := j.Render(ctx); err != nil {
		return false, err
	}
	return j.judge()
}

// judge reports whether the run has anything to do, as far as the rows show.
func (j *Job) judge() (some bool, err error) {
	if j.Adopting == nil {
		return !j.NothingPlanned(), nil
	}
	if some, err = j.Adopting.judge(j); err == nil && !some {
		j.Engine.Notef("there is no orphan to adopt")
	}
	return some, err
}

// LoadHubs reads the hub records of the last runs.
func (j *Job) LoadHubs(ctx context.Context) error {
	j.Records, j.ended = map[lynq.HubKey]*inventory.Hub{}, map[lynq.HubKey]*inventory.Hub{}
	for _, h := range j.Hubs {
		record, err := j.Store.LoadHub(ctx, h.Key.Namespace, h.Key.Name)
		if err != nil {
			return err
		}
		if record == nil {
			record = j.newHub(h.Key)
		}
		if err := session.Covered(j.Client.Namespaces(), h.Key, record, h.Namespaces(), j.Options.Nothing); err != nil {
			return err
		}
		j.Records[h.Key] = record
	}
	return nil
}

// emptyHubs refuses hubs without an active row before the run takes any lock. A source that
// yields nothing leads to no write, not even of a Lease.
func (j *Job) emptyHubs(ctx context.Context) ([]plan.Refusal, error) {
	var plans []plan.Plan
	for _, h := range j.Hubs {
		if j.Adopting != nil || j.Options.Limits.AllowEmpty || j.reports[h.Key].Active > 0 {
			continue
		}
		if err := j.LoadHubs(ctx); err != nil {
			return nil, session.Untouched(ctx, err)
		}
		began := time.Now()
		in, err := j.look(ctx, h, map[string]bool{})
		if err != nil {
			return nil, session.Untouched(ctx, err)
		}
		p := decide.Decide(in, j.Options.Limits)
		j.Engine.Meter().Planned(p, time.Since(began))
		plans = append(plans, *p)
	}
	return session.Refusals(plans), nil
}

// Render reads all rows and renders them. Bad rows end the run.
func (j *Job) Render(ctx context.Context) error {
	wanted := &desired{
		selector: j.Options.Settings.Selector, values: j.Options.RecordValues != RecordNone, sources: map[lynq.HubKey]*evidence.Source{},
		renames: map[lynq.HubKey]*lynq.Renames{}, named: len(j.Options.Settings.Nodes) > 0, pages: j.Pages,
	}
	recorded, err := recordedNames(ctx, j)
	if err != nil {
		return err
	}
	settings := j.Options.Settings
	settings.Recorded = recorded
	j.read = j.Engine.Now()
	reader := *j.Engine
	reader.Stdin = j.stdinRows.Reader(j.Engine.Stdin)
	run, err := load.RenderRows(ctx, &reader, &j.Options.RenderOptions, settings, j.Inputs, wanted.render(ctx, wanted.sharded(j.Options.Shard)))
	if err != nil {
		return j.Options.Ended(run.Run, err)
	}
	wanted.retract(run.Retracted())
	saveMemory(wanted.nodes)
	j.Failed, j.NextExpiry, j.sources = run.Err(), run.Report().NextExpiry, wanted.sources
	j.renames = wanted.renames
	j.Nodes, j.reports, j.missing, j.near = map[lynq.HubKey][]*plan.Node{}, run.Hubs, run.Missing(), run.Near
	if !slices.ContainsFunc(wanted.nodes, func(n *plan.Node) bool { return n.Failed != nil && j.Options.Shard.Has(n.UID) }) {
		j.Failed = nil // the runs of other shards report their own rows
	}
	for _, n := range wanted.nodes {
		key := n.Hub
		j.Nodes[key] = append(j.Nodes[key], n)
	}
	return nil
}

// plans plans all hubs, and returns the refusals of guards.
func (j *Job) plans(ctx context.Context) ([]plan.Plan, []plan.Refusal, error) {
	if j.Failed != nil {
		j.Engine.View.Note(session.Text(j.Failed))
	}
	plans, err := j.PlanAll(ctx)
	if err != nil {
		return nil, nil, err
	}
	refusals := session.Refusals(plans)
	if len(refusals) > 0 {
		j.TellEvidence(plans)
	} else if plans, refusals, err = j.Reviewed(ctx, command, plans, j.placeOf); err != nil {
		return nil, nil, err
	}
	if len(refusals) == 0 {
		if err := plan.CheckSizes(plans); err != nil {
			return nil, nil, &session.Error{Outcome: session.BadInput, Err: err, Summary: j.Options.Nothing}
		}
		refusals, err = j.reviewedNow(ctx, plans)
	}
	return plans, refusals, err
}

// reviewedNow returns the refusals of Options.Review.
func (j *Job) reviewedNow(ctx context.Context, plans []plan.Plan) ([]plan.Refusal, error) {
	if j.Options.Review == nil {
		return nil, nil
	}
	copies := slices.Clone(plans)
	for i := range copies {
		copies[i].Nodes = slices.Clone(copies[i].Nodes)
		for k := range copies[i].Nodes {
			n := &copies[i].Nodes[k]
			n.Steps = slices.Clone(n.Steps)
		}
	}
	refusals, err := j.Options.Review(ctx, j, copies)
	if len(refusals) > 0 {
		j.TellEvidence(plans)
	}
	return refusals, err
}

// explain notes causes in plans, if the command can.
func (j *Job) explain(ctx context.Context, plans []plan.Plan) error {
	if j.Options.Explain == nil {
		return nil
	}
	return j.Options.Explain(ctx, j, plans)
}

// agree shows the plans and asks for confirmation, if the run deletes objects. Without a
// person, only the guards decide.
func (j *Job) agree(ctx context.Context, plans []plan.Plan) ([]plan.Plan, error) {
	deleted := func(p plan.Plan) bool {
		return p.Counts[plan.ActionDelete]+p.Counts[plan.ActionCollect]+p.Counts[plan.ActionRecreate] > 0
	}
	j.TellEvidence(plans) // people who read the log of a CI job later need it, too
	if j.Options.Yes || j.RunOptions.Plan != nil || j.Adopting != nil || !j.Engine.View.Attended() || !slices.ContainsFunc(plans, deleted) {
		return plans, nil
	}
	if err := j.explain(ctx, plans); err != nil {
		return nil, session.Untouched(ctx, err)
	}
	if err := j.Engine.View.Preview(plans); err != nil {
		return nil, session.Fail(err)
	}
	return plans, j.Engine.Confirm(ctx, false, "Apply this, with "+session.DeletionSummary(plans)+"?")
}

// PlanAll plans all hubs: it reads the cluster and decides. If an object or a node would
// leave, it decides again with everything that the other inputs render.
func (j *Job) PlanAll(ctx context.Context) ([]plan.Plan, error) {
	_, looked := j.Engine.CountingRequests(j.Warnings, "reading the cluster")
	defer looked()
	if err := lookAtNamespaces(ctx, j); err != nil {
		return nil, session.Untouched(ctx, err)
	}
	began := time.Now()
	var inputs []*decide.Input
	found := map[string]bool{}
	for _, h := range j.Hubs {
		in, err := j.look(ctx, h, found)
		if err != nil {
			return nil, session.Untouched(ctx, err)
		}
		inputs = append(inputs, in)
	}
	plans, err := j.decide(ctx, inputs)
	if err != nil {
		return nil, session.Untouched(ctx, err)
	}
	if err := j.unknownNodes(found); err != nil {
		return nil, err
	}
	if err := oneOfEach(j.Options.Settings.Nodes, plans); err != nil {
		return nil, err
	}
	stones, err := lookAtTombstones(ctx, j, plans)
	if err != nil {
		return nil, err
	}
	all := withTombstones(j, plans, stones)
	if plan.Leaves(all) && partial(j) {
		known := survey(ctx, j)
		for _, in := range inputs {
			in.Desired.Elsewhere = known
		}
		plans = decideAll(inputs, j.Options.Limits)
		if err := stones.check(plans); err != nil {
			return nil, &session.Error{Outcome: session.BadInput, Err: err, Summary: j.Options.Nothing}
		}
		all = withTombstones(j, plans, stones)
	}
	if again, err := j.otherNames(ctx, inputs, all); err != nil {
		return nil, session.Untouched(ctx, err)
	} else if again {
		plans = decideAll(inputs, j.Options.Limits)
		all = withTombstones(j, plans, stones)
	}
	j.compared = map[lynq.HubKey][]string{}
	for i := range plans {
		j.Engine.Meter().Planned(&plans[i], time.Since(began))
		if lines := plans[i].Evidence.Lines(); len(lines) > 0 {
			j.compared[plans[i].Hub] = lines
		}
	}
	return all, context.Cause(ctx)
}

// decide decides for all hubs. If nobody knows whether a write changes an object, decide
// asks the server and decides again. So the plan counts exactly the changes that the run
// writes. Before a run deletes an inventory, it also looks for copies that the garbage
// collector would delete with it.
func (j *Job) decide(ctx context.Context, inputs []*decide.Input) ([]plan.Plan, error) {
	plans := decideAll(inputs, j.Options.Limits)
	again := false
	for i := range plans {
		found, err := apply.Ask(ctx, j.Client, &plans[i])
		if err != nil {
			return nil, err
		}
		inputs[i].Found(found)
		again = again || len(found) > 0
		copies, err := observe.Copies(ctx, j.Client, inputs[i].Hub.Name, plans[i].LeavingInventories())
		if err != nil {
			return nil, err
		}
		again = inputs[i].Observed.Add(copies) || again
	}
	if again {
		plans = decideAll(inputs, j.Options.Limits)
	}
	return plans, nil
}

// otherNames reads what may be other names of the objects that plans delete. It reports
// whether the plans must be decided again.
func (j *Job) otherNames(ctx context.Context, inputs []*decide.Input, plans []plan.Plan) (again bool, err error) {
	for _, in := range inputs {
		var refs []lynq.Ref
		var alone []*tracking.Live // objects that no node has
		for i := range plans {
			if p := &plans[i]; p.Hub == in.Hub {
				refs = append(refs, decide.OtherNames(p)...)
				alone = append(alone, p.Alone()...)
			}
		}
		if len(refs)+len(alone) == 0 {
			continue
		}
		if in.Beside, err = observe.OtherNames(ctx, j.Client, refs); err != nil {
			return false, err
		}
		for _, l := range alone {
			in.Beside.Live[l.Ref] = l
		}
		again = again || len(in.Beside.Live)+len(in.Beside.Unknown) > 0
	}
	return again, nil
}

// decideAll decides on all hubs.
func decideAll(inputs []*decide.Input, limits decide.Limits) []plan.Plan {
	plans := make([]plan.Plan, len(inputs))
	for i, p := range decide.All(inputs, limits) {
		plans[i] = *p
	}
	return plans
}

// look reads the cluster state of a hub.
func (j *Job) look(ctx context.Context, h load.HubPrograms, found map[string]bool) (*decide.Input, error) {
	in := &decide.Input{
		Hub:     h.Key,
		Desired: decide.Desired{Exclude: map[lynq.FormKey]lynq.Exclusions{}, NamespaceDefaults: h.Hub.NamespaceDefaults, Nodes: j.Nodes[h.Key], Active: j.reports[h.Key].Active},
		Now:     j.Engine.Now(),
	}
	in.Desired.Grace = map[lynq.FormKey]time.Duration{}
	for _, p := range h.Programs {
		key := load.FormKey(p.Form, h.Key.Namespace)
		if !j.Options.NoGrace {
			in.Desired.Grace[key] = p.Form.GraceIn(h.Hub)
		}
		in.Desired.Forms = append(in.Desired.Forms, key)
		in.Desired.Exclude[key] = p.Exclude
	}
	in.Desired.Hooks = load.FormHooks(&h)
	in.Rename(j.renames[h.Key])
	in.Scope.Narrowed = j.Options.Settings.Selector != nil
	in.Options.AdoptNothing, in.Options.IncludeData = j.Options.AdoptNothing, j.Options.IncludeData
	// The first question about kinds takes long, and needs no records, so it runs beside
	// them.
	var asking sync.WaitGroup
	var operator map[string]int
	var operatorErr error
	asking.Go(func() {
		operator, operatorErr = observe.OperatorNodes(ctx, j.Client, h.Hub.Name, j.Client.Namespaces())
	})
	ahead := j.aheadOf(ctx, &h)
	defer ahead.close()
	known, err := j.RecordedIn(h.Key, j.Records[h.Key], h.Namespaces(), func() ([]*inventory.Inventory, error) { return ahead.nodes(ctx) })
	asking.Wait()
	if err != nil {
		return nil, err
	}
	in.Recorded.Inventories, in.Recorded.Broken, in.Recorded.OperatorNodes = known.Inventories, known.Broken, known.Within(operator)
	j.remember(h, in)
	if j.recordedIn == nil {
		j.recordedIn = map[lynq.HubKey][]string{}
	}
	j.recordedIn[h.Key] = trust.NamespacesOf(h.Key.Namespace, h.Namespaces(), in.Recorded.Inventories)
	j.absentForms(h, in)
	in.Scope.Only = onlyNodes(j, in.Recorded.Inventories, found)
	if operatorErr != nil {
		return nil, operatorErr
	}
	if in.Recorded.Taken, err = observe.TakenNames(ctx, j.Client, h.Key, j.Client.Namespaces(), in.Desired.Nodes, in.Recorded.Inventories); err != nil {
		return nil, err
	}
	if err := j.observe(ctx, in, ahead.objects); err != nil {
		return nil, err
	}
	j.narrowToPlan(h, in)
	return in, nil
}

// observe reads the objects of a hub.
func (j *Job) observe(ctx context.Context, in *decide.Input, ahead *observe.Prefetch) (err error) {
	var seen *plan.Observed
	switch shard := j.Options.Shard; {
	case j.Concern != nil:
		nodes, inventories := in.Narrow(j.Concern)
		seen, err = observe.SomeNodes(ctx, j.Client, in.Hub.Name, len(in.Desired.Nodes), nodes, inventories)
	case !shard.IsZero():
		nodes, inventories := in.InShard(shard)
		seen, err = observe.SomeNodes(ctx, j.Client, in.Hub.Name, len(in.Desired.Nodes), nodes, inventories)
	default:
		seen, err = ahead.Nodes(ctx, j.Client, in.Hub.Name, in.Desired.Nodes, in.Recorded.Inventories)
	}
	if err != nil {
		return fmt.Errorf("hub %s/%s: %w", in.Hub.Namespace, in.Hub.Name, err)
	}
	in.Observed = *seen
	if j.Adopting != nil {
		j.Adopting.narrow(in)
	}
	return nil
}

// absentForms records the forms that the inputs lack. lynqctl keeps their nodes. A narrowed
// run records none, because it leaves forms out on purpose.
func (j *Job) absentForms(h load.HubPrograms, in *decide.Input) {
	record := j.Records[h.Key]
	if record == nil || j.narrowed() {
		return
	}
	record.Absent = in.AbsentForms()
	for _, f := range record.Absent {
		belong, stay, them := "belong", "stay as they are", "them"
		if f.Nodes == 1 {
			belong, stay, them = "belongs", "stays as it is", "it"
		}
		j.WarnOnce(fmt.Sprintf("%s of hub %s %s to form %s/%s, which isn't in your files, and %s (to delete %s: lynqctl delete form %[4]s/%[5]s)",
			phrase.Count(f.Nodes, "node"), h.Key, belong, f.Form.Namespace, f.Form.Name, stay, them))
	}
}

// unknownNodes refuses names given with --node that neither rows nor records contain.
func (j *Job) unknownNodes(found map[string]bool) error {
	missing := slices.DeleteFunc(slices.Clone(j.missing), func(n string) bool { return found[n] })
	if len(missing) == 0 {
		return nil
	}
	names := slices.Collect(maps.Keys(found))
	for _, nodes := range j.Nodes {
		for _, n := range nodes {
			names = append(names, n.Name)
		}
	}
	slices.Sort(names)
	e := load.UnknownNodes(missing, render.FormNames(load.AllPrograms(j.Hubs)))
	for _, m := range missing {
		candidates := names
		if near := j.near(m); near != "" {
			candidates = append(candidates, near)
		}
		if near, ok := suggest.Near(m, candidates); ok {
			e.Err = fmt.Errorf("%w; for %s, did you mean %s?", e.Err, m, near)
		}
	}
	return e
}

// saveHub records what the run saw of a hub, and its result.
func (j *Job) saveHub(ctx context.Context, h load.HubPrograms, s *report.Summary) error {
	return j.updateHub(ctx, h.Key, func() *inventory.Hub {
		record := j.seen(h, s)
		if s.Settled[h.Key] {
			record.Version = j.Engine.Version
		}
		return record
	})
}

// seen returns the hub record with what the run saw, and its result. It returns nil if the
// result isn't known yet.
func (j *Job) seen(h load.HubPrograms, s *report.Summary) *inventory.Hub {
	record := *j.Records[h.Key]
	r := j.reports[h.Key]
	record.Rows, record.Active, record.Inactive, record.Nodes = r.Rows, r.Active, r.Rows-r.Active, len(j.Nodes[h.Key])
	record.Namespaces, record.NamespaceDefaults = j.recordedIn[h.Key], h.Hub.NamespaceDefaults
	record.Columns, record.Time, record.Interrupted = render.Columns(h.Hub), j.read.UTC().Truncate(time.Second), time.Time{}
	j.noteRows(&record, h.Key)
	record.SetUnrendered(Unrendered(j.Nodes[h.Key]))
	if gone, looked := j.gone[h.Key]; looked {
		record.Tombstones = gone
	}
	if s != nil {
		if rollouts, whole := s.Rollouts[h.Key]; whole {
			record.Rollouts = rollouts
		}
		if note, looked := s.Sighted[h.Key]; looked && !j.narrowed() {
			record.Sighted = note
		}
		switch held := j.Held[h.Key]; {
		case !s.Interrupted && !j.narrowed():
			settle(&record, held)
			record.Troubles = j.Troubles[h.Key]
		case held != nil: // held deletions count, however the run ended
			record.Held = held
		}
	}
	return &record
}

// narrowed reports whether the run covers only some nodes. What such a run deletes and
// holds isn't everything that leaves.
func (j *Job) narrowed() bool {
	return !j.Options.Shard.IsZero() || j.chosen()
}

// chosen reports whether a person chose nodes or objects for the run.
func (j *Job) chosen() bool {
	return j.Adopting != nil || j.RunOptions.Plan != nil || len(j.Options.Inputs.Forms)+len(j.Options.Settings.Nodes) > 0 || j.Options.Settings.Selector != nil
}

// Unrendered returns the nodes that failed to render, in the form of hub records.
func Unrendered(nodes []*plan.Node) []inventory.Unrendered {
	var failed []inventory.Unrendered
	for _, n := range nodes {
		if why := (*plan.RenderError)(nil); errors.As(n.Failed, &why) {
			failed = append(failed, inventory.Unrendered{Node: n.NodeID, Message: why.Masked})
		}
	}
	return failed
}

// settle notes in the hub record the deletions that a full run held back, nil for none. An
// approval works once. It ends when the run carries out its deletions, or when the run
// holds others.
func settle(record *inventory.Hub, held *inventory.HeldDeletions) {
	record.Held = held
	if held == nil || record.Approved != held.Digest {
		record.Approved = ""
	}
}
