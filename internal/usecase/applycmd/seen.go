package applycmd

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Seen is a rendered job with the records of its hubs.
type Seen struct {
	*Rendered
	// Records have what the last runs saw, and then what this run saves. Without an entry,
	// the run writes no hub record.
	Records map[lynq.HubKey]*inventory.Hub
	// ended are deleted records of hubs without nodes. This run completes their deletion.
	ended map[lynq.HubKey]*inventory.Hub
	begun *prefetch // lists of the first hub that began early, or nil
	// Concern selects the nodes to plan, nil means all.
	Concern *decide.Concern
}

// Of returns a copy that plans only the nodes of concern.
func (s *Seen) Of(concern *decide.Concern) *Seen {
	selected := *s
	selected.Concern = concern
	return &selected
}

// LoadHubs reads the hub records of the last runs.
func (r *Rendered) LoadHubs(ctx context.Context) (*Seen, error) {
	s := &Seen{Rendered: r, Records: map[lynq.HubKey]*inventory.Hub{}, ended: map[lynq.HubKey]*inventory.Hub{}}
	for _, h := range r.Hubs {
		record, err := r.Store.LoadHub(ctx, h.Key.Namespace, h.Key.Name)
		if err != nil {
			return nil, err
		}
		if record == nil {
			record = r.newHub(h.Key)
		}
		if err := session.Covered(r.Client.Namespaces(), h.Key, record, h.Namespaces(), r.Options.Nothing); err != nil {
			return nil, err
		}
		s.Records[h.Key] = record
	}
	return s, nil
}

// emptyHubs refuses hubs without an active row before the run takes any lock. A source that
// yields nothing leads to no write, not even of a Lease.
func (r *Rendered) emptyHubs(ctx context.Context) ([]plan.Refusal, error) {
	var plans []plan.Plan
	for _, h := range r.Hubs {
		if r.Adopting != nil || r.Options.Limits.AllowEmpty || r.reports[h.Key].Active > 0 {
			continue
		}
		s, err := r.LoadHubs(ctx)
		if err != nil {
			return nil, session.Untouched(ctx, err)
		}
		began := time.Now()
		in, err := s.input(ctx, h, map[string]bool{})
		if err != nil {
			return nil, session.Untouched(ctx, err)
		}
		p := decide.Decide(in, r.Options.Limits)
		r.Engine.Meter().Planned(p, time.Since(began))
		plans = append(plans, *p)
	}
	return session.Refusals(plans), nil
}

// PlanAll plans all hubs: it reads the cluster and decides. If an object or a node would
// leave, it decides again with everything that the other inputs render.
func (s *Seen) PlanAll(ctx context.Context) (*Planned, error) {
	_, looked := s.Engine.CountingRequests(s.Warnings, "reading the cluster")
	defer looked()
	if err := lookAtNamespaces(ctx, s.Rendered); err != nil {
		return nil, session.Untouched(ctx, err)
	}
	began := time.Now()
	var inputs []*decide.Input
	p := &Planned{Seen: s, compared: map[lynq.HubKey][]string{}, namespaces: map[lynq.HubKey][]string{}}
	found := map[string]bool{}
	for _, h := range s.Hubs {
		in, err := s.input(ctx, h, found)
		if err != nil {
			return nil, session.Untouched(ctx, err)
		}
		inputs = append(inputs, in)
		p.namespaces[h.Key] = inventory.NamespacesOf(h.Key.Namespace, h.Namespaces(), in.Recorded.Inventories)
	}
	plans, err := s.decide(ctx, inputs)
	if err != nil {
		return nil, session.Untouched(ctx, err)
	}
	if err := s.unknownNodes(found); err != nil {
		return nil, err
	}
	if err := oneOfEach(s.Options.Settings.Nodes, plans); err != nil {
		return nil, err
	}
	stones, err := s.lookAtTombstones(ctx, plans)
	if err != nil {
		return nil, err
	}
	p.gone = stones.gone
	p.Plans = s.withTombstones(plans, stones)
	if plan.Leaves(p.Plans) && s.partial() {
		known := s.survey(ctx)
		for _, in := range inputs {
			in.Desired.Elsewhere = known
		}
		plans = decideAll(inputs, s.Options.Limits)
		if err := stones.check(plans); err != nil {
			return nil, &session.Error{Outcome: session.BadInput, Err: err, Summary: s.Options.Nothing}
		}
		p.Plans = s.withTombstones(plans, stones)
	}
	if again, err := s.otherNames(ctx, inputs, p.Plans); err != nil {
		return nil, session.Untouched(ctx, err)
	} else if again {
		plans = decideAll(inputs, s.Options.Limits)
		p.Plans = s.withTombstones(plans, stones)
	}
	for i := range plans {
		s.Engine.Meter().Planned(&plans[i], time.Since(began))
		if lines := plans[i].Evidence.Lines(); len(lines) > 0 {
			p.compared[plans[i].Hub] = lines
		}
	}
	return p, context.Cause(ctx)
}

// decide decides for all hubs. If nobody knows whether a write changes an object, decide
// asks the server and decides again. So the plan counts exactly the changes that the run
// writes. Before a run deletes an inventory, it also looks for copies that the garbage
// collector would delete with it.
func (s *Seen) decide(ctx context.Context, inputs []*decide.Input) ([]plan.Plan, error) {
	plans := decideAll(inputs, s.Options.Limits)
	again := false
	for i := range plans {
		found, err := apply.Ask(ctx, s.Client, &plans[i])
		if err != nil {
			return nil, err
		}
		inputs[i].Found(found)
		again = again || len(found) > 0
		copies, err := observe.Copies(ctx, s.Client, inputs[i].Hub.Name, plans[i].LeavingInventories())
		if err != nil {
			return nil, err
		}
		again = inputs[i].Observed.Add(copies) || again
	}
	if again {
		plans = decideAll(inputs, s.Options.Limits)
	}
	return plans, nil
}

// otherNames reads what may be other names of the objects that plans delete. It reports
// whether the plans must be decided again.
func (s *Seen) otherNames(ctx context.Context, inputs []*decide.Input, plans []plan.Plan) (again bool, err error) {
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
		if in.Beside, err = observe.OtherNames(ctx, s.Client, refs); err != nil {
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

// input reads the cluster state of a hub.
func (s *Seen) input(ctx context.Context, h load.HubPrograms, found map[string]bool) (*decide.Input, error) {
	in := &decide.Input{
		Hub:     h.Key,
		Desired: decide.Desired{Exclude: map[lynq.FormKey]lynq.Exclusions{}, NamespaceDefaults: h.Hub.NamespaceDefaults, Nodes: s.Nodes[h.Key], Active: s.reports[h.Key].Active},
		Now:     s.Engine.Now(),
	}
	in.Desired.Grace = map[lynq.FormKey]time.Duration{}
	for _, p := range h.Programs {
		key := load.FormKey(p.Form, h.Key.Namespace)
		if !s.Options.NoGrace {
			in.Desired.Grace[key] = p.Form.GraceIn(h.Hub)
		}
		in.Desired.Forms = append(in.Desired.Forms, key)
		in.Desired.Exclude[key] = p.Exclude
	}
	in.Desired.Hooks = load.FormHooks(&h)
	in.Rename(s.renames[h.Key])
	in.Scope.Narrowed = s.Options.Settings.Selector != nil
	in.Options.AdoptNothing, in.Options.IncludeData = s.Options.AdoptNothing, s.Options.IncludeData
	// The first question about kinds takes long, and needs no records, so it runs beside
	// them.
	var asking sync.WaitGroup
	var operator map[string]int
	var operatorErr error
	asking.Go(func() {
		operator, operatorErr = observe.OperatorNodes(ctx, s.Client, h.Hub.Name, s.Client.Namespaces())
	})
	ahead := s.aheadOf(ctx, &h)
	defer ahead.close()
	known, err := s.RecordedIn(h.Key, s.Records[h.Key], h.Namespaces(), func() ([]*inventory.Inventory, error) { return ahead.nodes(ctx) })
	asking.Wait()
	if err != nil {
		return nil, err
	}
	in.Recorded.Inventories, in.Recorded.Broken, in.Recorded.OperatorNodes = known.Inventories, known.Broken, known.Within(operator)
	s.remember(h, in)
	s.absentForms(h, in)
	in.Scope.Only = onlyNodes(s.Job, in.Recorded.Inventories, found)
	if operatorErr != nil {
		return nil, operatorErr
	}
	if in.Recorded.Taken, err = observe.TakenNames(ctx, s.Client, h.Key, s.Client.Namespaces(), in.Desired.Nodes, in.Recorded.Inventories); err != nil {
		return nil, err
	}
	if err := s.observe(ctx, in, ahead.objects); err != nil {
		return nil, err
	}
	s.narrowToPlan(h, in)
	return in, nil
}

// observe reads the objects of a hub.
func (s *Seen) observe(ctx context.Context, in *decide.Input, ahead *observe.Prefetch) (err error) {
	var seen *plan.Observed
	switch shard := s.Options.Shard; {
	case s.Concern != nil:
		nodes, inventories := in.Narrow(s.Concern)
		seen, err = observe.SomeNodes(ctx, s.Client, in.Hub.Name, len(in.Desired.Nodes), nodes, inventories)
	case !shard.IsZero():
		nodes, inventories := in.InShard(shard)
		seen, err = observe.SomeNodes(ctx, s.Client, in.Hub.Name, len(in.Desired.Nodes), nodes, inventories)
	default:
		seen, err = ahead.Nodes(ctx, s.Client, in.Hub.Name, in.Desired.Nodes, in.Recorded.Inventories)
	}
	if err != nil {
		return fmt.Errorf("hub %s/%s: %w", in.Hub.Namespace, in.Hub.Name, err)
	}
	in.Observed = *seen
	if s.Adopting != nil {
		s.Adopting.narrow(in)
	}
	return nil
}

// absentForms records the forms that the inputs lack. lynqctl keeps their nodes. A narrowed
// run records none, because it leaves forms out on purpose.
func (s *Seen) absentForms(h load.HubPrograms, in *decide.Input) {
	record := s.Records[h.Key]
	if record == nil || s.narrowed() {
		return
	}
	record.Absent = in.AbsentForms()
	for _, f := range record.Absent {
		belong, stay, them := "belong", "stay as they are", "them"
		if f.Nodes == 1 {
			belong, stay, them = "belongs", "stays as it is", "it"
		}
		s.WarnOnce(fmt.Sprintf("%s of hub %s %s to form %s/%s, which isn't in your files, and %s (to delete %s: lynqctl delete form %[4]s/%[5]s)",
			phrase.Count(f.Nodes, "node"), h.Key, belong, f.Form.Namespace, f.Form.Name, stay, them))
	}
}
