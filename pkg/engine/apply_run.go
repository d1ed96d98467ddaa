package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// runPlans carries the plans of apply out.
func (j *applyJob) runPlans(ctx context.Context, plans []plan.Plan) error {
	if err := j.recordHubs(ctx, plans); err != nil {
		return untouched(ctx, err)
	}
	o := apply.Options{Wait: j.o.Wait, Finalizer: !j.o.NoFinalizer, Rollouts: rollouts(j.hubs)}
	o.Unready = j.adopting == nil && !j.continuous
	if j.adopting != nil {
		return j.clusterRun.runPlans(ctx, plans, o, nil)
	}
	return j.clusterRun.runPlans(ctx, plans, o, j.saveHubs)
}

// saveInterrupted records of each hub that the run on it was interrupted. Where the
// lock is lost another run records what it sees, and that is not touched.
func (j *applyJob) saveInterrupted(ctx context.Context, s *apply.Summary) {
	if lost := (*lease.LostError)(nil); errors.As(context.Cause(ctx), &lost) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), interruptedSaveGrace)
	defer cancel()
	for _, h := range j.hubs {
		record := j.seen(h, s)
		record.Interrupted = time.Now().UTC().Truncate(time.Second)
		record.Namespaces = plan.NamespacesOf(record.Namespace, slices.Concat(record.Namespaces, j.records[h.Key].Namespaces), nil)
		if _, err := j.store.SaveHub(ctx, record); err != nil {
			j.notef("hub %s: it is not recorded that the run was interrupted: %v", h.Key, err)
		}
	}
}

// tellRestored tells, where nothing is written, of the nodes whose inventories an
// apply would restore.
func (j *applyJob) tellRestored(plans []plan.Plan) {
	for i := range plans {
		for k := range plans[i].Nodes {
			if n := &plans[i].Nodes[k]; n.Replacement != nil {
				j.notef("node %s: its inventory, ConfigMap %s, was deleted: apply restores it, with the same objects", n.NodeKey, inventory.Name(n.Name))
			}
		}
	}
}

// saveHubs records what the run saw of each hub.
func (j *applyJob) saveHubs(ctx context.Context, s *apply.Summary) error {
	if s.Interrupted {
		j.saveInterrupted(ctx, s)
		return nil
	}
	var errs []error
	for _, h := range j.hubs {
		errs = append(errs, j.saveHub(ctx, h, s))
	}
	return errors.Join(errs...)
}

// recordHubs records what has to be known of the hubs should this run be killed:
// that their nodes may be in further namespaces, which nodes a watch deletes, and that no version is known any
// more to render what is recorded of them, where another one did. A record that was
// written over is one again from here on, before a node that took it for its object
// releases it.
func (j *applyJob) recordHubs(ctx context.Context, plans []plan.Plan) error {
	for _, h := range j.hubs {
		known := j.records[h.Key]
		if known == nil || j.run.Mode != ModeRun { // inventories are rebuilt, and nothing of the hub is written
			continue
		}
		record := *known
		if record.Overwritten {
			j.notef("hub %s: an older lynqctl took its record, ConfigMap %s/%s, for an object of a node; it is a record again",
				record.Name, record.Namespace, inventory.HubName(record.Name))
			record = *j.seen(h, nil)
			record.Finalizer = !j.o.NoFinalizer
		}
		if record.Version != j.Version {
			record.Version = ""
		}
		record.Namespaces = plan.NamespacesOf(known.Namespace, slices.Concat(known.Namespaces, h.namespaces()), nil)
		deletes := false
		if window := j.o.Limits.Window; window > 0 {
			record.Deletions, deletes = plan.RecordDeletions(record.Deletions, lossesOf(plans, h.Key), time.Now(), window)
		}
		if !known.Overwritten && !deletes && record.Version == known.Version && len(record.Namespaces) == len(known.Namespaces) {
			continue
		}
		saved, err := j.store.SaveHub(ctx, &record)
		if err != nil {
			return err
		}
		j.records[h.Key] = saved
	}
	return nil
}

// lossesOf are the nodes of a hub that plans take away, or objects of them.
func lossesOf(plans []plan.Plan, hub lynq.HubKey) []plan.NodeKey {
	var losses []plan.NodeKey
	for i := range plans {
		if plans[i].Hub == hub {
			losses = append(losses, plans[i].Losses...)
		}
	}
	return losses
}
