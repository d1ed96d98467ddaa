package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// RestoreOptions say which inventories are restored: those of the nodes that are
// named, or all that need it.
type RestoreOptions struct {
	RunOptions
	InventoryOptions
	// Show shows what is going to be restored.
	Show func([]plan.Restoration) error
}

// Restore takes back the deletion of inventories that our finalizer holds, and makes
// those again that are gone, of what their objects say. Rows and forms are not asked.
func (e *Engine) Restore(ctx context.Context, o *RestoreOptions) error {
	return e.onCluster(ctx, &o.Access, o.Timeout, &o.RunOptions, func(ctx context.Context, r clusterRun) error {
		j := restoreJob{clusterRun: r, o: o}
		return j.perform(ctx)
	})
}

// restoreJob is one run of Restore.
type restoreJob struct {
	clusterRun
	o    *RestoreOptions
	left int // inventories that cannot be restored, as they were found last
}

func (j *restoreJob) perform(ctx context.Context) error {
	found, err := j.find(ctx)
	if err != nil {
		return err
	}
	if j.run.Mode != ModeRun || len(found) == 0 {
		return j.ended(j.o.Show(found))
	}
	hubs := restoredHubs(found)
	return j.withLocks(ctx, hubs, func(locks *locks) error { return j.again(locks.ctx, hubs) })
}

// again looks once more for what was lost, and restores it, while no other run has the
// hubs: one may have restored, or deleted, some of it before.
func (j *restoreJob) again(ctx context.Context, hubs []lynq.HubKey) error {
	found, err := j.find(ctx)
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(r plan.Restoration) bool { return !slices.Contains(hubs, plan.HubOf(r.Inventory)) })
	if err := j.o.Show(found); err != nil {
		return err
	}
	return j.ended(j.restore(ctx, found))
}

// ended is how a run ended that did what it could.
func (j *restoreJob) ended(err error) error {
	if err == nil && j.left > 0 {
		return &Error{Outcome: Failed, Err: ErrReported, Summary: lynq.Count(j.left, "inventory") + " could not be restored"}
	}
	return err
}

func (j *restoreJob) restore(ctx context.Context, found []plan.Restoration) error {
	var errs []error
	for i := range found {
		if ctx.Err() != nil {
			break
		}
		if r := found[i].Replacement; r != nil {
			for _, l := range r.Strays {
				j.notef("%s: %s", l.Ref, plan.StrayWarning)
			}
		}
		errs = append(errs, apply.Restore(ctx, j.client, j.store, &found[i]))
	}
	restored := len(errs)
	for _, err := range errs {
		if err != nil {
			restored--
		}
	}
	j.notef("%s restored", lynq.Count(restored, "inventory"))
	if cause := context.Cause(ctx); cause != nil {
		errs = []error{cause} // and what it broke off
	}
	return Fail(errors.Join(errs...))
}

// restoredHubs are the hubs of inventories, each once.
func restoredHubs(found []plan.Restoration) []lynq.HubKey {
	var hubs []lynq.HubKey
	for _, r := range found {
		if hub := plan.HubOf(r.Inventory); !slices.Contains(hubs, hub) {
			hubs = append(hubs, hub)
		}
	}
	return hubs
}

// find reads what there is, and finds what was lost. Why something cannot be
// is told.
func (j *restoreJob) find(ctx context.Context) ([]plan.Restoration, error) {
	records, err := j.o.readAll(ctx, newHubRecords(j.store, j.o.Namespace))
	if err != nil {
		return nil, err
	}
	found, why, err := j.damaged(ctx, records.Chosen)
	if err != nil {
		return nil, untouched(ctx, err)
	}
	gone, more, err := j.gone(ctx, records)
	if err != nil {
		return nil, err
	}
	found = append(found, gone...)
	why = append(why, more...)
	for _, b := range records.Broken {
		why = append(why, b)
	}
	for _, w := range records.Ignored {
		j.warnOnce(w)
	}
	for _, w := range why {
		j.warnOnce(w.Error())
	}
	j.left = len(why)
	return found, j.unknown(records, found, len(why) > 0)
}

// unknown refuses names that nothing has.
func (j *restoreJob) unknown(records *Inventories, found []plan.Restoration, incomplete bool) error {
	narrowed := j.o.InventoryOptions
	narrowed.Nodes = nil // gone has told of those
	if incomplete {
		return nil // they may be the ones
	}
	return narrowed.unknown(records, restoredHubs(found))
}

// damaged are the inventories that are there, or whose copies are.
func (j *restoreJob) damaged(ctx context.Context, chosen []*inventory.Inventory) (found []plan.Restoration, why []error, err error) {
	of := map[lynq.HubKey][]*inventory.Inventory{}
	var hubs []lynq.HubKey
	for _, inv := range chosen {
		hub := plan.HubOf(inv)
		if of[hub] == nil {
			hubs = append(hubs, hub)
		}
		of[hub] = append(of[hub], inv)
	}
	for _, hub := range hubs {
		seen, err := observe.Nodes(ctx, j.client, hub.Name, nil, of[hub])
		if err != nil {
			return nil, nil, fmt.Errorf("hub %s: %w", hub, err)
		}
		r, errs := plan.Restore(of[hub], seen)
		found, why = append(found, r...), append(why, errs...)
	}
	return found, why, nil
}

// gone are the inventories that are not there, of the nodes that are named or, where
// none is, of all that left objects behind.
func (j *restoreJob) gone(ctx context.Context, records *Inventories) (found []plan.Restoration, why []error, err error) {
	recorded := records.nodes()
	missing := slices.DeleteFunc(slices.Clone(j.o.Nodes), func(name string) bool { return slices.Contains(recorded, name) })
	if len(missing) == 0 && len(j.o.Nodes) > 0 {
		return nil, nil, nil
	}
	r := rebuildJob{clusterRun: j.clusterRun, o: &RebuildOptions{Node: missing, Where: j.o.Namespace}}
	r.o.Hubs = j.o.Hubs
	err = r.look(ctx)
	j.warned = r.warned
	if err != nil {
		return nil, nil, err
	}
	rebuilt, unbuilt, err := r.recordable(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := j.o.unrecorded("node", r.unknown(rebuilt, unbuilt), recorded); err != nil {
		return nil, nil, &Error{Outcome: BadInput, Err: err, Summary: "nothing was touched"}
	}
	for _, u := range unbuilt {
		if u.Node.Name != "" || len(missing) == 0 {
			why = append(why, fmt.Errorf("no inventory is made of %s: %s", unbuiltObjects(&u), u.Why))
		}
	}
	seen := &plan.Observed{Live: map[lynq.Ref]*plan.Live{}}
	for i := range r.stranded {
		seen.Live[r.stranded[i].Ref] = r.stranded[i].Live
	}
	restorations, errs := plan.Restore(newOnes(rebuilt), seen)
	return restorations, append(why, errs...), nil
}

// newOnes are the inventories that there are not yet.
func newOnes(rebuilt []orphan.Rebuilt) []*inventory.Inventory {
	var inventories []*inventory.Inventory
	for _, b := range rebuilt {
		if b.UID == "" && b.Copy == "" {
			inventories = append(inventories, b.Inventory)
		}
	}
	return inventories
}

// nodes are those that have an inventory, whether it can be read or not.
func (r *Inventories) nodes() []string {
	var nodes []string
	for _, inv := range slices.Concat(r.Chosen, r.others) {
		nodes = append(nodes, inv.Node)
	}
	for _, b := range r.Broken {
		nodes = append(nodes, b.Node)
	}
	return nodes
}
