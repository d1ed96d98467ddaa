package inventorycmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// RebuildOptions say which inventories Rebuild writes.
type RebuildOptions struct {
	Apply applycmd.Options
	Node  []string // selected names, as NODE or NAMESPACE/NODE. Empty means all
	Where string   // namespace of the nodes, "" means all
	// Show shows the inventories before Rebuild writes them. complete is false if some
	// objects can't be recorded. Progress shows the run that writes owner references to
	// objects of lost inventories.
	Show     func(rebuilt []plan.Restoration, complete bool) error
	Progress session.View
	Yes      bool // don't ask
}

// Rebuild rebuilds lost inventories. With inputs, rows and forms show the form and row of
// each node. It returns a *session.Error if it couldn't rebuild everything.
func Rebuild(ctx context.Context, e *session.Engine, o *RebuildOptions) error {
	if err := e.MayGoOn(o.Apply.Mode, o.Yes); err != nil {
		return err
	}
	r := rebuildJob{o: o}
	if len(o.Apply.Inputs.Paths) > 0 {
		return applycmd.WithJob(ctx, e, &o.Apply, func(ctx context.Context, j *applycmd.Job) error {
			r.Run = j.Run
			if err := r.look(ctx); err != nil {
				return err
			}
			j.Tracked = applycmd.TrackedNames(r.lost.stranded, j.Hubs)
			rows, err := j.Render(ctx)
			if err != nil {
				return err
			}
			r.apply, r.lost.apply = rows, rows
			return r.perform(ctx)
		})
	}
	return e.OnCluster(ctx, &o.Apply.Access, o.Apply.Timeout, &o.Apply.RunOptions, func(ctx context.Context, run session.Run) error {
		r.Run = run
		if err := r.look(ctx); err != nil {
			return err
		}
		return r.perform(ctx)
	})
}

// rebuildJob is one run of Rebuild.
type rebuildJob struct {
	session.Run
	o     *RebuildOptions
	apply *applycmd.Rendered // nil if rebuild reads no rows and forms
	lost  lost
	// written says of each object whether the run wrote its inventory.
	written map[lynq.Ref]bool
}

// look finds the objects without an inventory entry.
func (r *rebuildJob) look(ctx context.Context) error {
	r.lost = lost{
		Run: &r.Run, nodes: r.o.Node, where: r.o.Where, chosen: r.o.Apply.Inputs.Hubs, forms: r.o.Apply.Inputs.Forms, noFinalizer: r.o.Apply.NoFinalizer,
	}
	return r.lost.look(ctx)
}

// perform writes what look found. It doesn't read again, because each write has the
// inventory that lynqctl saw as a precondition.
func (r *rebuildJob) perform(ctx context.Context) error {
	r.written = map[lynq.Ref]bool{}
	all := recovery{
		run: &r.Run, find: r.find, show: r.o.Show, done: "written", write: r.write,
		ask: func(rebuilt []plan.Restoration) error {
			return r.Engine.Confirm(ctx, r.o.Yes, question(rebuilt))
		},
	}
	if r.apply != nil {
		all.after = r.retrack
	}
	return all.perform(ctx)
}

// find makes inventories for the objects without an entry, and notes the objects that it
// can't record.
func (r *rebuildJob) find(ctx context.Context) (rebuilt []plan.Restoration, unable, err error) {
	rebuilt, unbuilt, err := r.meantAll(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, u := range unbuilt {
		r.Engine.Notef("not rebuilt: %s: %s", unbuiltObjects(&u), u.Why)
	}
	for _, b := range r.lost.broken {
		r.Engine.Notef("not rebuilt: ConfigMap %s/%s cannot be read (to create it again, remove its finalizers, delete it with kubectl delete --cascade=orphan, then run this again)", b.Node.Namespace, b.Name)
	}
	r.tellOthers(rebuilt)
	return rebuilt, r.left(unbuilt), nil
}

// left returns an error if some objects still have no inventory. If the user named nodes,
// objects of unknown nodes don't count.
func (r *rebuildJob) left(unbuilt []orphan.Unbuilt) error {
	objects := 0
	for _, u := range unbuilt {
		if u.Name != "" || len(r.o.Node) == 0 {
			objects += len(u.Objects)
		}
	}
	switch {
	case objects > 0:
		return unrecovered(phrase.Count(objects, "object") + " could not be recorded")
	case len(r.lost.broken) > 0:
		return unrecovered(phrase.Count(len(r.lost.broken), "inventory") + " can't be read")
	}
	return nil
}

// write writes one inventory.
func (r *rebuildJob) write(ctx context.Context, b *plan.Restoration) error {
	_, err := r.Store.Save(ctx, b.Inventory)
	for i := range b.Entries {
		r.written[b.Entries[i].Ref] = err == nil
	}
	return err
}

// question asks for confirmation, and counts the inventories to write.
func question(rebuilt []plan.Restoration) string {
	created, completed, objects := 0, 0, 0
	for _, b := range rebuilt {
		if b.UID == "" {
			created++
		} else {
			completed++
		}
		objects += b.Added
	}
	var parts []string
	if created > 0 {
		parts = append(parts, "write "+phrase.Count(created, "new inventory"))
	}
	if completed > 0 {
		parts = append(parts, "complete "+phrase.Count(completed, "inventory"))
	}
	text := strings.Join(parts, " and ") + ", with " + phrase.Count(objects, "object") + " that no inventory has an entry for?"
	return strings.ToUpper(text[:1]) + text[1:]
}

// meantAll calls recordable, and returns an error for names without objects.
func (r *rebuildJob) meantAll(ctx context.Context) ([]plan.Restoration, []orphan.Unbuilt, error) {
	rebuilt, unbuilt, err := r.lost.recordable(ctx)
	if err != nil {
		return nil, nil, err
	}
	var errs []error
	for _, name := range r.lost.unknown(rebuilt, unbuilt) {
		errs = append(errs, fmt.Errorf("no object of node %q lacks an inventory%s (lynqctl orphans list -A --stranded lists what does)", name, r.lost.within()))
	}
	if len(errs) > 0 {
		return nil, nil, &session.Error{Outcome: session.BadInput, Err: errors.Join(errs...), Summary: "nothing changed"}
	}
	return rebuilt, unbuilt, nil
}

// tellOthers notes nodes that could belong to more than one hub, once for each hub.
func (r *rebuildJob) tellOthers(rebuilt []plan.Restoration) {
	var told []lynq.HubKey
	for _, b := range rebuilt {
		hub := b.Node.Hub
		if len(b.Others) == 0 || slices.Contains(told, hub) {
			continue
		}
		told = append(told, hub)
		namespaces, others := []string{hub.Namespace}, make([]string, len(b.Others))
		for i, o := range b.Others {
			namespaces, others[i] = append(namespaces, o.Namespace), o.String()
		}
		slices.Sort(namespaces)
		last := len(namespaces) - 1
		r.Engine.Notef("hub %s is in namespaces %s and %s: the inventory is rebuilt for the one in %s (pass --hub %s for the other)",
			hub.Name, strings.Join(namespaces[:last], ", "), namespaces[last], hub.Namespace, strings.Join(others, " or "))
	}
}

// retrack gives the objects of a lost inventory the new one as an owner, as forms say.
// Standard output gets only the list of inventories.
func (r *rebuildJob) retrack(ctx context.Context) error {
	quiet := *r.Engine
	quiet.View = r.o.Progress
	r.apply.Client, r.apply.Store = r.Client, r.Store
	r.apply.Engine, r.apply.Adopting = &quiet, &applycmd.Adopting{Recorded: r.written}
	err := r.apply.CarryOut(ctx)
	if known := (*session.Error)(nil); errors.As(err, &known) && known.Outcome != session.Failed {
		return &session.Error{Outcome: session.Failed, Err: err, Summary: "lynqctl wrote the inventories; the next apply restores the owner references"}
	}
	return err
}
