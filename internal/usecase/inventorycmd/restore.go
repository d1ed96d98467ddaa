package inventorycmd

import (
	"context"
	"fmt"
	"slices"

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

// RestoreOptions say which inventories Restore restores: those of named nodes, or all that
// need it.
type RestoreOptions struct {
	session.RunOptions
	session.InventoryOptions
	// Show shows the inventories before Restore writes them. complete is false if some others
	// can't be restored.
	Show func(found []plan.Restoration, complete bool) error
}

// Restore restores inventories that someone deleted and our finalizer blocks. It creates
// missing ones again from their objects. It reads neither rows nor forms.
func Restore(ctx context.Context, e *session.Engine, o *RestoreOptions) error {
	return e.OnCluster(ctx, &o.Access, o.Timeout, &o.RunOptions, func(ctx context.Context, r session.Run) error {
		j := restoreJob{Run: r, o: o}
		return j.perform(ctx)
	})
}

// restoreJob is one run of Restore.
type restoreJob struct {
	session.Run
	o *RestoreOptions
}

func (j *restoreJob) perform(ctx context.Context) error {
	r := recovery{
		run: &j.Run, find: j.find, show: j.o.Show, done: "restored", write: j.restore,
	}
	return r.perform(ctx)
}

// restore restores one inventory.
func (j *restoreJob) restore(ctx context.Context, found *plan.Restoration) error {
	if r := found.Replacement; r != nil {
		for _, l := range r.Unlisted {
			j.Engine.Notef("%s: %s", l.Ref, plan.UnlistedWarning)
		}
	}
	return apply.Restore(ctx, j.Client, j.Store, found)
}

// find reads the inventories and finds the lost ones. It notes why some can't be restored.
func (j *restoreJob) find(ctx context.Context) (found []plan.Restoration, unable, err error) {
	records, err := j.o.ReadAll(ctx, session.NewHubRecords(j.Store, j.o.Namespace))
	if err != nil {
		return nil, nil, err
	}
	found, why, err := j.damaged(ctx, records.Chosen)
	if err != nil {
		return nil, nil, session.Untouched(ctx, err)
	}
	gone, more, err := j.gone(ctx, records)
	if err != nil {
		return nil, nil, err
	}
	found = append(found, gone...)
	why = append(why, more...)
	for _, b := range records.Broken {
		why = append(why, b)
	}
	for _, w := range records.Ignored {
		j.WarnOnce(w)
	}
	for _, w := range why {
		j.WarnOnce(w.Error())
	}
	if len(why) > 0 { // the names may be unknown
		return found, unrecovered(phrase.Count(len(why), "inventory") + " could not be restored"), nil
	}
	return found, nil, j.unknown(records, found)
}

// unknown refuses names that nothing has.
func (j *restoreJob) unknown(records *session.Inventories, found []plan.Restoration) error {
	narrowed := j.o.InventoryOptions
	narrowed.Nodes = nil // gone reported these
	return narrowed.Unknown(records, hubsOf(found))
}

// damaged finds inventories that are deleted but still exist, or whose copies exist.
func (j *restoreJob) damaged(ctx context.Context, chosen []*inventory.Inventory) (found []plan.Restoration, why []error, err error) {
	of := map[lynq.HubKey][]*inventory.Inventory{}
	var hubs []lynq.HubKey
	for _, inv := range chosen {
		hub := inv.Node.Full().Hub
		if of[hub] == nil {
			hubs = append(hubs, hub)
		}
		of[hub] = append(of[hub], inv)
	}
	for _, hub := range hubs {
		seen, err := observe.Nodes(ctx, j.Client, hub.Name, nil, of[hub])
		if err != nil {
			return nil, nil, fmt.Errorf("hub %s: %w", hub, err)
		}
		r, errs := decide.Restorations(of[hub], seen)
		copies, err := observe.Copies(ctx, j.Client, hub.Name, decide.RestoredInventories(r))
		if err != nil {
			return nil, nil, fmt.Errorf("hub %s: %w", hub, err)
		}
		if seen.Add(copies) {
			r, errs = decide.Restorations(of[hub], seen)
		}
		found, why = append(found, r...), append(why, errs...)
	}
	return found, why, nil
}

// gone finds inventories that don't exist. It checks the named nodes, or all nodes that
// left objects behind.
func (j *restoreJob) gone(ctx context.Context, records *session.Inventories) (found []plan.Restoration, why []error, err error) {
	recorded := records.Nodes()
	missing := slices.DeleteFunc(slices.Clone(j.o.Nodes), func(name string) bool { return slices.Contains(recorded, name) })
	if len(missing) == 0 && len(j.o.Nodes) > 0 {
		return nil, nil, nil
	}
	r := lost{Run: &j.Run, nodes: missing, where: j.o.Namespace, chosen: j.o.Hubs}
	if err := r.look(ctx); err != nil {
		return nil, nil, err
	}
	rebuilt, unbuilt, err := r.recordable(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := j.o.Unrecorded("node", r.unknown(rebuilt, unbuilt), recorded); err != nil {
		return nil, nil, &session.Error{Outcome: session.BadInput, Err: err, Summary: "nothing changed"}
	}
	for _, u := range unbuilt {
		if u.Name != "" || len(missing) == 0 {
			why = append(why, fmt.Errorf("lynqctl creates no inventory from %s: %s", unbuiltObjects(&u), u.Why))
		}
	}
	seen := &plan.Observed{Live: map[lynq.Ref]*tracking.Live{}}
	for i := range r.stranded {
		seen.Live[r.stranded[i].Ref] = r.stranded[i].Live
	}
	restorations, errs := decide.Restorations(newOnes(rebuilt), seen)
	return restorations, append(why, errs...), nil
}

// newOnes returns the inventories that don't exist yet.
func newOnes(rebuilt []plan.Restoration) []*inventory.Inventory {
	var inventories []*inventory.Inventory
	for _, b := range rebuilt {
		if b.Loss == plan.LossGone {
			inventories = append(inventories, b.Inventory)
		}
	}
	return inventories
}
