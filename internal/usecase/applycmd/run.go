package applycmd

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Waiting is what waits for a person in a hub.
type Waiting struct {
	Held     *inventory.HeldDeletions // nil for none
	Troubles []inventory.Trouble
}

// RunPlans carries plans out: those of apply, or what watch makes of them. waiting is for the hub
// records.
func (p *Planned) RunPlans(ctx context.Context, plans []plan.Plan, waiting map[lynq.HubKey]Waiting) error {
	if err := p.BeginPlan(ctx); err != nil {
		return session.Untouched(ctx, err)
	}
	if err := p.recordHubs(ctx, plans); err != nil {
		return session.Untouched(ctx, err)
	}
	p.Noted.Inputs, p.Noted.Recorded = p.inputs, p.Adopting == nil
	o := apply.Options{Wait: p.Options.Wait, Finalizer: !p.Options.NoFinalizer, Rollouts: p.rollouts()}
	o.Unready, o.Sighted = p.Adopting == nil && !p.Continuous, map[lynq.HubKey]string{}
	for key, record := range p.Records {
		o.Sighted[key] = record.Sighted
	}
	if p.Adopting != nil {
		return p.Run.RunPlans(ctx, plans, o, nil)
	}
	return p.Run.RunPlans(ctx, plans, o, func(ctx context.Context, s *report.Summary) error { return p.saveHubs(ctx, s, waiting) })
}

// saveInterrupted records in each hub record that the run was interrupted.
func (p *Planned) saveInterrupted(ctx context.Context, s *report.Summary, waiting map[lynq.HubKey]Waiting) {
	for _, h := range p.Hubs {
		err := p.updateHub(ctx, h.Key, func() *inventory.Hub {
			record := p.record(h, s, waiting[h.Key])
			record.Interrupted = time.Now().UTC().Truncate(time.Second)
			record.Namespaces = inventory.NamespacesOf(record.Namespace, slices.Concat(record.Namespaces, p.Records[h.Key].Namespaces), nil)
			return record
		})
		if err != nil {
			p.Engine.Notef("hub %s: it is not recorded that the run was interrupted: %v", h.Key, err)
		}
	}
}

// TellRestored notes, in a dry run, the nodes whose inventories apply would restore.
func (j *Job) TellRestored(plans []plan.Plan) {
	for i := range plans {
		for k := range plans[i].Nodes {
			if n := &plans[i].Nodes[k]; n.Replacement != nil {
				j.Engine.Notef("node %s: its inventory, ConfigMap %s, was deleted: apply restores it, with the same objects", n.Key(), inventory.Name(n.Name))
			}
		}
	}
}

// saveHubs records what the run saw of each hub.
func (p *Planned) saveHubs(ctx context.Context, s *report.Summary, waiting map[lynq.HubKey]Waiting) error {
	if s.Interrupted {
		p.saveInterrupted(ctx, s, waiting)
		return nil
	}
	var errs []error
	for _, h := range p.Hubs {
		errs = append(errs, p.saveHub(ctx, h, s, waiting[h.Key]))
	}
	if len(s.Failed) == 0 {
		errs = append(errs, p.EndPlan(ctx))
	}
	return errors.Join(errs...)
}

// recordHubs records what the next run must know if this run is killed. It records further
// namespaces of nodes, and the nodes that a watch deletes. It records since when nodes
// leave that are in their grace period. It clears the version if another version rendered
// the recorded objects. Before that, it completes deletions of hubs without nodes.
func (s *Seen) recordHubs(ctx context.Context, plans []plan.Plan) error {
	for _, h := range s.Hubs {
		known := s.Records[h.Key]
		if known == nil || s.RunOptions.Mode != session.ModeRun { // rebuild writes inventories, and no hub record
			continue
		}
		if err := s.completeHub(ctx, h); err != nil {
			return err
		}
		planned := known.Leaving
		if err := s.updateHub(ctx, h.Key, func() *inventory.Hub { return s.intended(h, plans, planned) }); err != nil {
			return err
		}
	}
	return nil
}

// intended returns the hub record with what this run is about to do, or nil if the record
// has it. planned are the leaving nodes that the record had when the run made its plans.
func (s *Seen) intended(h load.HubPrograms, plans []plan.Plan, planned []inventory.Leaving) *inventory.Hub {
	known := s.Records[h.Key]
	record := *known
	if record.Version != s.Engine.Version {
		record.Version = ""
	}
	record.Namespaces = inventory.NamespacesOf(known.Namespace, slices.Concat(known.Namespaces, h.Namespaces()), nil)
	record.Leaving = decide.MergeLeaving(planned, leavingOf(plans, h.Key, planned), known.Leaving)
	changed := !inventory.EqualLeaving(record.Leaving, known.Leaving)
	if over := s.Options.Limits.Window; over > 0 {
		var more bool
		record.Deletions, more = decide.RecordDeletions(record.Deletions, lossesOf(plans, h.Key), s.Engine.Now(), over)
		changed = changed || more
	}
	if !changed && record.Version == known.Version && len(record.Namespaces) == len(known.Namespaces) {
		return nil
	}
	return &record
}

// leavingOf returns the nodes in their grace period that the hub record gets. Without a
// plan of the hub, it returns the known ones.
func leavingOf(plans []plan.Plan, hub lynq.HubKey, known []inventory.Leaving) []inventory.Leaving {
	for i := range plans {
		if p := &plans[i]; p.Hub == hub && !p.After {
			return p.LeavingRecord
		}
	}
	return known
}

// lossesOf returns the nodes of a hub that plans delete, or from which they remove objects.
func lossesOf(plans []plan.Plan, hub lynq.HubKey) []lynq.NodeKey {
	var losses []lynq.NodeKey
	for i := range plans {
		if plans[i].Hub == hub {
			losses = append(losses, plans[i].Losses...)
		}
	}
	return losses
}
