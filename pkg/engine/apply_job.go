package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/internal/suggest"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// applyJob is one run of apply.
type applyJob struct {
	clusterRun
	o      *ApplyOptions
	inputs *Inputs
	hubs   []HubPrograms

	rendering
	records map[lynq.HubKey]*inventory.Hub
	// recordedIn are the namespaces of the hubs' inventories.
	recordedIn map[lynq.HubKey][]string

	// held are the deletions that this run holds back, by hub.
	held       map[lynq.HubKey]*inventory.HeldDeletions
	tombstones []lynq.Tombstone // of files
	// gone are the digests of the tombstones whose objects are known to be gone.
	gone map[lynq.HubKey][]string

	// continuous: it is one round of many, and tells nothing of what it leaves as it is.
	continuous bool
	// concern says which nodes are planned, nil for all.
	concern *plan.Concern

	stdinRows replayed
	tracked   keptNames // by objects whose inventories were lost, nil where nothing is known of those
	adopting  *adopting // of orphans, nil for an apply
}

// rendering is what rows and forms want.
type rendering struct {
	read    time.Time // when the rows were read
	nodes   map[lynq.HubKey][]*plan.Node
	reports map[lynq.HubKey]render.Report
	missing []string
	near    func(missing string) string // the row's node that was probably meant, "" for none
	failed  error                       // nodes that could not be rendered
}

// replayed is standard input that can be read more than once: what came of it
// the first time comes again.
type replayed struct {
	kept  bytes.Buffer
	again bool
}

// Reader reads standard input the first time, and what came of it ever after; stdin
// may be nil then.
func (r *replayed) Reader(stdin io.Reader) io.Reader {
	if r.again {
		return bytes.NewReader(r.kept.Bytes())
	}
	r.again = true
	if stdin == nil {
		return nil
	}
	return io.TeeReader(stdin, &r.kept)
}

func (j *applyJob) perform(ctx context.Context) error {
	if j.run.Mode != ModeRun {
		if some, err := j.rendered(ctx); err != nil || !some {
			return err
		}
		if err := j.loadHubs(ctx); err != nil {
			return untouched(ctx, err)
		}
		return j.carryOut(ctx)
	}
	locks := j.newLocks(ctx, j.hubKeys())
	if err := locks.look(ctx); err != nil {
		return untouched(ctx, err)
	}
	if some, err := j.rendered(ctx); err != nil || !some {
		return err
	}
	if err := j.refuseEmpty(ctx); err != nil {
		return err
	}
	err := j.acquire(ctx, locks)
	defer locks.release(ctx)
	if err != nil {
		return err
	}
	if err := j.loadHubs(ctx); err != nil {
		return untouched(ctx, err)
	}
	if locks.changed() {
		// Rows that were read before another run ended may be older than what
		// that run applied.
		if some, err := j.rendered(ctx); err != nil || !some {
			return err
		}
	}
	return j.carryOut(locks.ctx)
}

// rendered reads the rows and renders them, and tells whether there is anything
// to do, as far as they tell.
func (j *applyJob) rendered(ctx context.Context) (some bool, err error) {
	if err := j.render(ctx); err != nil {
		return false, err
	}
	return j.judge()
}

// judge tells whether there is anything to do, as far as the rows tell.
func (j *applyJob) judge() (some bool, err error) {
	if j.adopting == nil {
		return true, nil
	}
	if some, err = j.adopting.judge(j); err == nil && !some {
		j.notef("there is no orphan to adopt")
	}
	return some, err
}

// loadHubs reads what the last runs saw of the hubs.
func (j *applyJob) loadHubs(ctx context.Context) error {
	j.records = map[lynq.HubKey]*inventory.Hub{}
	for _, h := range j.hubs {
		record, err := j.store.LoadHub(ctx, h.Key.Namespace, h.Key.Name)
		if err != nil {
			return err
		}
		if record == nil {
			record = &inventory.Hub{Name: h.Key.Name, Namespace: h.Key.Namespace, Finalizer: !j.o.NoFinalizer}
		}
		j.records[h.Key] = record
	}
	return nil
}

// refuseEmpty refuses hubs without an active row before any lock is taken: a
// source that yields nothing leads to no write, not even that of a Lease.
func (j *applyJob) refuseEmpty(ctx context.Context) error {
	var plans []plan.Plan
	for _, h := range j.hubs {
		if j.adopting != nil || j.o.Limits.AllowEmpty || j.reports[h.Key].Active > 0 {
			continue
		}
		if err := j.loadHubs(ctx); err != nil {
			return untouched(ctx, err)
		}
		began := time.Now()
		in, err := j.look(ctx, h, map[string]bool{})
		if err != nil {
			return untouched(ctx, err)
		}
		p := plan.Decide(in, j.o.Limits)
		j.metrics().Planned(p, time.Since(began))
		plans = append(plans, *p)
	}
	return j.refused(plans)
}

// render reads all rows and renders them. Bad rows end the run.
func (j *applyJob) render(ctx context.Context) error {
	sink := &desired{selector: j.o.Settings.Selector, values: j.o.RecordValues != RecordNone, hubs: j.hubs}
	recorded, err := j.recordedNames(ctx)
	if err != nil {
		return err
	}
	settings := j.o.Settings
	settings.Recorded = recorded
	j.read = time.Now()
	reader := *j.Engine
	reader.Stdin = j.stdinRows.Reader(j.Stdin)
	run, err := reader.renderRows(ctx, &j.o.RenderOptions, settings, j.inputs, sink)
	if err != nil {
		return j.o.ended(run.Run, err)
	}
	j.failed = run.Err()
	j.nodes, j.reports, j.missing, j.near = map[lynq.HubKey][]*plan.Node{}, run.Hubs, run.Missing(), run.Near
	for _, n := range sink.nodes {
		key := lynq.HubKey{Namespace: n.HubNamespace, Name: n.Hub}
		j.nodes[key] = append(j.nodes[key], n)
	}
	return nil
}

// carryOut plans all hubs and carries the plans out.
func (j *applyJob) carryOut(ctx context.Context) error {
	if j.failed != nil {
		j.notef("%v", j.failed)
	}
	plans, err := j.planAll(ctx)
	if err != nil {
		return err
	}
	if err := j.refused(plans); err != nil {
		return err
	}
	if err := plan.CheckSizes(plans); err != nil {
		return &Error{Outcome: BadInput, Err: err, Summary: j.o.Nothing}
	}
	if j.run.Mode == ModeClient {
		j.tellRestored(plans)
		return j.showPlans(plans)
	}
	if err := j.agree(ctx, plans); err != nil {
		return err
	}
	return j.runPlans(ctx, plans)
}

// agree shows a person what would be done, and asks, where objects would be deleted.
// Where none is there, guards alone decide.
func (j *applyJob) agree(ctx context.Context, plans []plan.Plan) error {
	deleted := func(p plan.Plan) bool {
		return p.Counts[plan.ActionDelete]+p.Counts[plan.ActionCollect]+p.Counts[plan.ActionRecreate] > 0
	}
	if j.run.Mode != ModeRun || j.o.Yes || j.adopting != nil || !j.View.Attended() || !slices.ContainsFunc(plans, deleted) {
		return nil
	}
	if err := j.View.Preview(plans); err != nil {
		return Fail(err)
	}
	return j.confirm(ctx, false, "Apply this, with "+stake(plans)+"?")
}

// planAll plans all hubs: it looks at the cluster, decides, and, where that would delete
// an object, decides again with what the rest of the inputs renders.
func (j *applyJob) planAll(ctx context.Context) ([]plan.Plan, error) {
	_, looked := j.countingRequests(j.warnings, "looking at the cluster")
	defer looked()
	if err := j.lookAtNamespaces(ctx); err != nil {
		return nil, untouched(ctx, err)
	}
	began := time.Now()
	var inputs []*plan.Input
	found := map[string]bool{}
	for _, h := range j.hubs {
		in, err := j.look(ctx, h, found)
		if err != nil {
			return nil, untouched(ctx, err)
		}
		inputs = append(inputs, in)
	}
	plans := decideAll(inputs, j.o.Limits)
	if err := j.unknownNodes(found); err != nil {
		return nil, err
	}
	if err := oneOfEach(j.o.Settings.Nodes, plans); err != nil {
		return nil, err
	}
	stones, err := j.lookAtTombstones(ctx, plans)
	if err != nil {
		return nil, err
	}
	all := j.withTombstones(plans, stones)
	if plan.Deletes(all) && j.partial() {
		survey := j.survey(ctx)
		for _, in := range inputs {
			in.Elsewhere = survey
		}
		plans = decideAll(inputs, j.o.Limits)
		if err := stones.check(plans); err != nil {
			return nil, &Error{Outcome: BadInput, Err: err, Summary: j.o.Nothing}
		}
		all = j.withTombstones(plans, stones)
	}
	for i := range plans {
		j.metrics().Planned(&plans[i], time.Since(began))
	}
	return all, context.Cause(ctx)
}

// decideAll decides on all hubs.
func decideAll(inputs []*plan.Input, limits plan.Limits) []plan.Plan {
	plans := make([]plan.Plan, len(inputs))
	for i, in := range inputs {
		plans[i] = *plan.Decide(in, limits)
	}
	return plans
}

// look looks at what there is of a hub.
func (j *applyJob) look(ctx context.Context, h HubPrograms, found map[string]bool) (*plan.Input, error) {
	in := &plan.Input{
		Hub: h.Key.Name, HubNamespace: h.Key.Namespace, Exclude: map[lynq.FormKey]lynq.Exclusions{}, NamespaceDefaults: h.Hub.NamespaceDefaults,
		Nodes: j.nodes[h.Key], Active: j.reports[h.Key].Active, Now: time.Now(),
	}
	if r := j.records[h.Key]; r != nil {
		in.HubDeleting, in.Deletions = r.Deleting && r.Finalizer, r.Deletions
	}
	for _, p := range h.Programs {
		key := formKey(p.Form, h.Key.Namespace)
		in.Forms = append(in.Forms, key)
		in.Exclude[key] = p.Exclude
	}
	in.Hooks = formHooks(&h)
	in.Narrowed = j.o.Settings.Selector != nil
	in.AdoptNothing, in.IncludeData = j.o.AdoptNothing, j.o.IncludeData
	// The first question about kinds is a long one, and waits for no records.
	var asking sync.WaitGroup
	var operator map[string]int
	var operatorErr error
	asking.Go(func() { operator, operatorErr = apply.OperatorNodes(ctx, j.client, h.Hub.Name) })
	known, err := j.recorded(ctx, h.Key, j.records[h.Key], h.namespaces())
	asking.Wait()
	if err != nil {
		return nil, err
	}
	in.Inventories, in.Broken, in.OperatorNodes = known.inventories, known.broken, known.within(operator)
	if j.recordedIn == nil {
		j.recordedIn = map[lynq.HubKey][]string{}
	}
	j.recordedIn[h.Key] = plan.NamespacesOf(h.Key.Namespace, h.namespaces(), in.Inventories)
	j.absentForms(h, in)
	in.Only = j.onlyNodes(in.Inventories, found)
	if operatorErr != nil {
		return nil, operatorErr
	}
	if in.Taken, err = observe.TakenNames(ctx, j.client, h.Key, in.Nodes, in.Inventories); err != nil {
		return nil, err
	}
	return in, j.observe(ctx, in)
}

// observe looks at the objects of a hub.
func (j *applyJob) observe(ctx context.Context, in *plan.Input) (err error) {
	var seen *plan.Observed
	if j.concern == nil {
		seen, err = observe.Nodes(ctx, j.client, in.Hub, in.Nodes, in.Inventories)
	} else {
		nodes, inventories := in.Narrow(j.concern)
		seen, err = observe.SomeNodes(ctx, j.client, in.Hub, len(in.Nodes), nodes, inventories)
	}
	if err != nil {
		return fmt.Errorf("hub %s/%s: %w", in.HubNamespace, in.Hub, err)
	}
	in.See(seen)
	if j.adopting != nil {
		j.adopting.narrow(in)
	}
	return nil
}

// absentForms says which nodes no form of the inputs makes any more: they stay as they
// are. Where the inputs are narrowed, forms are missing on purpose.
func (j *applyJob) absentForms(h HubPrograms, in *plan.Input) {
	record := j.records[h.Key]
	if record == nil || j.narrowed() {
		return
	}
	record.Absent = in.AbsentForms()
	for _, f := range record.Absent {
		belong, stay, them := "belong", "stay as they are", "them"
		if f.Nodes == 1 {
			belong, stay, them = "belongs", "stays as it is", "it"
		}
		j.warnOnce(fmt.Sprintf("%s of hub %s %s to form %s/%s, which is not in these inputs, and %s (to delete %s: lynqctl delete form %[4]s/%[5]s)",
			lynq.Count(f.Nodes, "node"), h.Key, belong, f.FormNamespace, f.Form, stay, them))
	}
}

// formKey is the identity of a form of a hub in the given namespace: one that has
// no namespace of its own is in its hub's.
func formKey(f *form.Form, hubNamespace string) lynq.FormKey {
	return lynq.FormKey{Namespace: cmp.Or(f.Namespace, hubNamespace), Name: f.Name}
}

// unknownNodes refuses names given with --node that neither rows nor records
// have.
func (j *applyJob) unknownNodes(found map[string]bool) error {
	missing := slices.DeleteFunc(slices.Clone(j.missing), func(n string) bool { return found[n] })
	if len(missing) == 0 {
		return nil
	}
	names := slices.Collect(maps.Keys(found))
	for _, nodes := range j.nodes {
		for _, n := range nodes {
			names = append(names, n.Name)
		}
	}
	slices.Sort(names)
	e := unknownNodes(missing, render.FormNames(allPrograms(j.hubs)))
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

// saveHub records what the run saw of a hub, and how it went.
func (j *applyJob) saveHub(ctx context.Context, h HubPrograms, s *apply.Summary) error {
	record := j.seen(h, s)
	if s.Settled[h.Key] {
		record.Version = j.Version
	}
	_, err := j.store.SaveHub(ctx, record)
	return err
}

// seen is the record of a hub with what the run saw of it, and how it went, nil where
// that is not known yet.
func (j *applyJob) seen(h HubPrograms, s *apply.Summary) *inventory.Hub {
	record := *j.records[h.Key]
	r := j.reports[h.Key]
	record.Rows, record.Active, record.Inactive, record.Nodes = r.Rows, r.Active, r.Rows-r.Active, len(j.nodes[h.Key])
	record.Namespaces, record.NamespaceDefaults = j.recordedIn[h.Key], h.Hub.NamespaceDefaults
	record.Columns, record.Time, record.Interrupted = render.Columns(h.Hub), j.read.UTC().Truncate(time.Second), time.Time{}
	record.SetUnrendered(unrendered(j.nodes[h.Key]))
	if gone, looked := j.gone[h.Key]; looked {
		record.Tombstones = gone
	}
	if s != nil {
		if rollouts, whole := s.Rollouts[h.Key]; whole {
			record.Rollouts = rollouts
		}
		switch held := j.held[h.Key]; {
		case !s.Interrupted && !j.narrowed():
			settle(&record, held)
		case held != nil: // it is, however the run ended
			record.Held = held
		}
	}
	return &record
}

// narrowed tells whether the run is of some nodes alone: what it deletes, and holds, is
// not all that is to go.
func (j *applyJob) narrowed() bool {
	return j.adopting != nil || len(j.o.Forms)+len(j.o.Settings.Nodes) > 0 || j.o.Settings.Selector != nil
}

// unrendered are the nodes that could not be rendered, as they are recorded.
func unrendered(nodes []*plan.Node) []inventory.Unrendered {
	var failed []inventory.Unrendered
	for _, n := range nodes {
		if why := (*plan.RenderError)(nil); errors.As(n.Failed, &why) {
			failed = append(failed, inventory.Unrendered{
				Node: n.Name, Namespace: n.Namespace, Form: n.Form, FormNamespace: n.FormNamespace, UID: n.UID, Message: why.Masked,
			})
		}
	}
	return failed
}
