package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// RebuildOptions say which inventories are rebuilt.
type RebuildOptions struct {
	ApplyOptions
	Node  []string // names that are meant, as NODE or NAMESPACE/NODE; empty for all
	Where string   // namespace of the nodes, "" for all
	// Show shows what is going to be written, and Progress a run that writes owner
	// references of what belonged to lost inventories.
	Show     func([]orphan.Rebuilt) error
	Progress View
	Yes      bool // do not ask
}

// Rebuild rebuilds inventories that were lost. With inputs, rows and forms say of which
// form and row a node is.
func (e *Engine) Rebuild(ctx context.Context, o *RebuildOptions) error {
	if err := e.mayGoOn(o.Mode, o.Yes); err != nil {
		return err
	}
	r := rebuildJob{o: o}
	if len(o.Paths) > 0 {
		return e.withApplyJob(ctx, &o.ApplyOptions, func(ctx context.Context, j *applyJob) error {
			r.clusterRun, r.apply = j.clusterRun, j
			if err := r.look(ctx); err != nil {
				return err
			}
			j.tracked = trackedNames(r.stranded, j.hubs)
			if err := j.render(ctx); err != nil {
				return err
			}
			return r.perform(ctx)
		})
	}
	return e.onCluster(ctx, &o.Access, o.Timeout, &o.RunOptions, func(ctx context.Context, run clusterRun) error {
		r.clusterRun = run
		if err := r.look(ctx); err != nil {
			return err
		}
		return r.perform(ctx)
	})
}

// rebuildJob is one run of Rebuild.
type rebuildJob struct {
	clusterRun
	o        *RebuildOptions
	apply    *applyJob // nil where rows and forms are not asked
	stranded []orphan.Orphan
	broken   []*inventory.UnreadableError // of the nodes that are meant
	hubs     lynq.Names                   // that are meant
}

func (r *rebuildJob) perform(ctx context.Context) error {
	rebuilt, unbuilt, err := r.find(ctx)
	if err != nil {
		return err
	}
	for _, u := range unbuilt {
		r.notef("not rebuilt: %s: %s", unbuiltObjects(&u), u.Why)
	}
	for _, b := range r.broken {
		r.notef("not rebuilt: ConfigMap %s/%s cannot be read (to have it created again, take its finalizers off, delete it with kubectl delete --cascade=orphan, and run this again)", b.Namespace, b.Name)
	}
	r.tellOthers(rebuilt)
	if err := r.o.Show(rebuilt); err != nil {
		return err
	}
	if len(rebuilt) > 0 && r.run.Mode == ModeRun {
		if err := r.confirm(ctx, r.o.Yes, question(rebuilt)); err != nil {
			return err
		}
		if err := r.save(ctx, rebuilt); err != nil {
			return err
		}
	}
	return r.left(unbuilt)
}

// unbuiltObjects names objects of which no record can be made, and their node.
func unbuiltObjects(u *orphan.Unbuilt) string {
	of := "node " + u.Node.String()
	if u.Node.Name == "" {
		of = "an unknown node in namespace " + u.Node.Namespace
	}
	return fmt.Sprintf("%s of %s, such as %s", lynq.Count(len(u.Objects), "object"), of, u.Objects[0].Full())
}

// left is that some objects are still in no inventory. Those of which is not known
// the node are none of the nodes that were named.
func (r *rebuildJob) left(unbuilt []orphan.Unbuilt) error {
	objects := 0
	for _, u := range unbuilt {
		if u.Node.Name != "" || len(r.o.Node) == 0 {
			objects += len(u.Objects)
		}
	}
	switch {
	case objects > 0:
		return &Error{Outcome: Failed, Err: ErrReported, Summary: lynq.Count(objects, "object") + " could not be recorded"}
	case len(r.broken) > 0:
		return &Error{Outcome: Failed, Err: ErrReported, Summary: lynq.Count(len(r.broken), "inventory") + " could not be read"}
	}
	return nil
}

// question asks whether records are to be written, and says which.
func question(rebuilt []orphan.Rebuilt) string {
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
		parts = append(parts, "write "+lynq.Count(created, "new inventory"))
	}
	if completed > 0 {
		parts = append(parts, "complete "+lynq.Count(completed, "inventory"))
	}
	text := strings.Join(parts, " and ") + ", with " + lynq.Count(objects, "object") + " that no inventory has an entry for?"
	return strings.ToUpper(text[:1]) + text[1:]
}

// find looks for what is in no record, and makes records of it. A name of which there
// is nothing is an error.
func (r *rebuildJob) find(ctx context.Context) ([]orphan.Rebuilt, []orphan.Unbuilt, error) {
	rebuilt, unbuilt, err := r.recordable(ctx)
	if err != nil {
		return nil, nil, err
	}
	var errs []error
	for _, name := range r.unknown(rebuilt, unbuilt) {
		errs = append(errs, fmt.Errorf("no object of node %q lacks an inventory%s (lynqctl orphans list -A --stranded lists what does)", name, r.where()))
	}
	if len(errs) > 0 {
		return nil, nil, &Error{Outcome: BadInput, Err: errors.Join(errs...), Summary: "nothing was touched"}
	}
	return rebuilt, unbuilt, nil
}

// recordable is what is in no record and meant, and the records that can be made of it.
func (r *rebuildJob) recordable(ctx context.Context) ([]orphan.Rebuilt, []orphan.Unbuilt, error) {
	in, err := r.input(ctx)
	if err != nil {
		return nil, nil, err
	}
	rebuilt, unbuilt := orphan.Rebuild(in)
	rebuilt = slices.DeleteFunc(rebuilt, func(b orphan.Rebuilt) bool {
		return !r.meant(keyOf(b.Inventory), b.HubKey()) || r.apply != nil && len(r.o.Forms) > 0 && !r.formMeant(b.Inventory)
	})
	unbuilt = slices.DeleteFunc(unbuilt, func(u orphan.Unbuilt) bool { return !r.meant(u.Node, lynq.HubKey{Name: u.Hub}) })
	return rebuilt, unbuilt, nil
}

// unknown are the names of nodes of which nothing was found.
func (r *rebuildJob) unknown(rebuilt []orphan.Rebuilt, unbuilt []orphan.Unbuilt) []string {
	return slices.DeleteFunc(slices.Clone(r.o.Node), func(name string) bool {
		is := func(k plan.NodeKey) bool { return k.Name == name || k.String() == name }
		return slices.ContainsFunc(rebuilt, func(b orphan.Rebuilt) bool { return is(keyOf(b.Inventory)) }) ||
			slices.ContainsFunc(unbuilt, func(u orphan.Unbuilt) bool { return is(u.Node) })
	})
}

// where names the namespace of the nodes that are meant.
func (r *rebuildJob) where() string {
	if r.o.Where == "" {
		return ""
	}
	return " in namespace " + r.o.Where
}

// named is the node that a name means, as far as its namespace is known.
func (r *rebuildJob) named(name string) plan.NodeKey {
	if namespace, node, said := strings.Cut(name, "/"); said {
		return plan.NodeKey{Namespace: namespace, Name: node}
	}
	return plan.NodeKey{Namespace: r.o.Where, Name: name}
}

// meant tells whether a node is to be rebuilt; one without a name may be any
// of its namespace.
func (r *rebuildJob) meant(key plan.NodeKey, hub lynq.HubKey) bool {
	return (r.o.Where == "" || r.o.Where == key.Namespace) && mayChooseHub(r.hubs, hub) &&
		(len(r.o.Node) == 0 || key.Name == "" || slices.Contains(r.o.Node, key.Name) || slices.Contains(r.o.Node, key.String()))
}

// formMeant tells whether --form means the form of a node.
func (r *rebuildJob) formMeant(inv *inventory.Inventory) bool {
	form := plan.FormOf(inv)
	return lynq.Names(r.o.Forms).Choose(form.Namespace, form.Name)
}

// mayChooseHub tells whether names choose a hub, as far as it is known: where its
// namespace is not, they may mean it.
func mayChooseHub(names lynq.Names, hub lynq.HubKey) bool {
	return names.Choose(hub.Namespace, hub.Name) || hub.Namespace == "" && slices.ContainsFunc(names, func(name string) bool {
		_, of, qualified := strings.Cut(name, "/")
		return qualified && of == hub.Name
	})
}

// look looks for objects whose inventories were lost.
func (r *rebuildJob) look(ctx context.Context) (err error) {
	r.stranded, err = r.findOrphans(ctx, orphan.Query{
		Now: time.Now(), Stranded: r.store, Filter: orphan.Filter{Reasons: []string{orphan.ReasonStranded}},
	})
	return err
}

func (r *rebuildJob) input(ctx context.Context) (*orphan.RebuildInput, error) {
	in := &orphan.RebuildInput{Stranded: r.stranded, Chosen: r.o.Hubs, NoFinalizer: r.o.NoFinalizer}
	r.hubs = r.hubsMeant()
	if err := r.readRecords(ctx, in); err != nil {
		return nil, unread(ctx, err)
	}
	if r.o.Where == "" {
		in.Within = []string{}
	}
	for _, name := range r.o.Node {
		in.Named = append(in.Named, r.named(name))
	}
	if r.apply == nil {
		if len(r.o.Forms) == 1 {
			namespace, form, said := strings.Cut(r.o.Forms[0], "/")
			if in.Form, in.FormNamespace = form, namespace; !said {
				in.Form, in.FormNamespace = namespace, ""
			}
		}
		return in, nil
	}
	for _, h := range r.apply.hubs {
		in.Nodes = append(in.Nodes, r.apply.nodes[h.Key]...)
		if r.o.Where == "" {
			in.Within = append(in.Within, h.namespaces()...)
		}
	}
	return in, nil
}

// readRecords reads the records that there are. Inventories that do not count say
// nothing; in the namespace that a person named all are told that cannot be read.
func (r *rebuildJob) readRecords(ctx context.Context, in *orphan.RebuildInput) error {
	inventories, err := r.store.AllNodes(ctx, "")
	all, err := brokenOnes(err)
	if err != nil {
		return err
	}
	in.Hubs, err = r.store.Hubs(ctx, "")
	if _, err = brokenOnes(err); err != nil {
		return err
	}
	kept, broken, _ := plan.NewCounting(in.Hubs, inventories).Split(inventories, all)
	if in.Inventories = kept; r.o.Where != "" {
		broken = all
	}
	r.broken = slices.DeleteFunc(slices.Clone(broken), func(b *inventory.UnreadableError) bool {
		return !r.meant(plan.NodeKey{Namespace: b.Namespace, Name: b.Node}, lynq.HubKey{Namespace: b.HubNamespace, Name: b.Hub})
	})
	return nil
}

// hubsMeant are those of the inputs, or those of --hub.
func (r *rebuildJob) hubsMeant() lynq.Names {
	if r.apply == nil {
		return r.o.Hubs
	}
	var names lynq.Names
	for _, h := range r.apply.hubs {
		names = append(names, h.Key.String())
	}
	return names
}

// tellOthers tells of nodes that could be of more than one hub, once for each.
func (r *rebuildJob) tellOthers(rebuilt []orphan.Rebuilt) {
	var told []lynq.HubKey
	for _, b := range rebuilt {
		hub := b.HubKey()
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
		r.notef("hub %s is in namespaces %s and %s: the inventory is rebuilt for the one in %s (say --hub %s for the other)",
			hub.Name, strings.Join(namespaces[:last], ", "), namespaces[last], hub.Namespace, strings.Join(others, " or "))
	}
}

// save writes the records, and has what belonged to a lost one belong to the new
// one, where forms say what that is.
func (r *rebuildJob) save(ctx context.Context, rebuilt []orphan.Rebuilt) error {
	var keys []lynq.HubKey
	for _, b := range rebuilt {
		if p := plan.HubOf(b.Inventory); !slices.Contains(keys, p) {
			keys = append(keys, p)
		}
	}
	return r.withLocks(ctx, keys, func(locks *locks) error { return r.write(locks.ctx, rebuilt) })
}

// write is save, while no other run has the hubs.
func (r *rebuildJob) write(ctx context.Context, rebuilt []orphan.Rebuilt) error {
	var errs []error
	objects := map[lynq.Ref]bool{}
	for _, b := range rebuilt {
		_, err := r.store.Save(ctx, b.Inventory)
		errs = append(errs, err)
		for i := range b.Entries {
			objects[b.Entries[i].Ref] = err == nil
		}
	}
	written := len(rebuilt)
	for _, err := range errs {
		if err != nil {
			written--
		}
	}
	r.notef("%s written", lynq.Count(written, "inventory"))
	err := Fail(errors.Join(errs...))
	if r.apply != nil {
		r.apply.client, r.apply.store = r.client, r.store
		err = errors.Join(err, r.retrack(ctx, objects))
	}
	return err
}

// retrack has what belonged to a lost record belong to the new one. The list of
// the records is all that standard output gets.
func (r *rebuildJob) retrack(ctx context.Context, objects map[lynq.Ref]bool) error {
	quiet := *r.Engine
	quiet.View = r.o.Progress
	r.apply.Engine, r.apply.adopting = &quiet, &adopting{recorded: objects}
	err := r.apply.carryOut(ctx)
	if known := (*Error)(nil); errors.As(err, &known) && known.Outcome != Failed {
		return &Error{Outcome: Failed, Err: err, Summary: "the inventories are written, and the next apply puts right what belongs to them"}
	}
	return err
}
