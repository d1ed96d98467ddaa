package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// rebuildFlags are the flags of inventory rebuild.
type rebuildFlags struct {
	applyFlags
	everywhere bool
	yes        bool
}

func (a *app) inventoryRebuildCommand() *cobra.Command {
	f := rebuildFlags{applyFlags: defaultApplyFlags()}
	f.wait = false
	cmd := &cobra.Command{
		Use:   "rebuild [NODE...]",
		Short: "Make records anew that were lost",
		Long: `Make the records of nodes anew from the labels, owner references and annotations
of what bears their tracking and is in no record. What is to be recorded is shown
first, and nothing is written that was not agreed to.

With -f, rows and forms say of which form and row a node is, and what depends on
what; what belonged to a lost record belongs to the new one then. Without, the
form is that of other nodes of the hub, or that of --form: enough to let the node
go with lynqctl delete.

Objects do not say all that a record does: all count as not confirmed, and the
next apply looks at each of them once.`,
		Example: `  # After a record was lost
  lynqctl inventory rebuild -n shop -f forms/

  # Of a row that is gone too, so that its node can be deleted
  lynqctl inventory rebuild acme-web -n shop --form web`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.inventoryRebuild(cmd.Context(), &f, args) },
	}
	f.inputFlags.register(cmd)
	f.registerAll(cmd)
	f.registerSources(cmd)
	f.registerRun(cmd)
	flags := cmd.Flags()
	flags.BoolVarP(&f.everywhere, "all-namespaces", "A", false, "nodes of all namespaces")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	return cmd
}

func (a *app) inventoryRebuild(ctx context.Context, f *rebuildFlags, nodes []string) error {
	namespace, err := f.scope()
	if err != nil {
		return err
	}
	r := rebuildJob{flags: f, namespace: namespace, nodes: nodes}
	if len(f.paths) > 0 {
		return a.withApplyJob(ctx, &f.applyFlags, func(ctx context.Context, j *applyJob) error {
			if err := j.render(ctx); err != nil {
				return err
			}
			r.clusterRun, r.apply = j.clusterRun, j
			return r.perform(ctx)
		})
	}
	if _, _, err := f.check(); err != nil {
		return err
	}
	ctx, cancel := f.deadline(ctx)
	defer cancel()
	warnings := &serverWarnings{stderr: a.stderr}
	client, err := f.access.Client(kube.Options{Warn: warnings.warn})
	if err != nil {
		return badUsage(err)
	}
	r.clusterRun = a.newClusterRun(&f.runFlags, client, warnings)
	return r.perform(ctx)
}

// scope is the namespace of the nodes that are meant, "" for all.
func (f *rebuildFlags) scope() (string, error) {
	switch {
	case f.everywhere && f.namespace != "":
		return "", badUsage(errors.New("-A and -n exclude each other"))
	case len(f.paths) == 0 && len(f.formNames) > 1:
		return "", badUsage(errors.New("without -f, --form takes one form"))
	case f.everywhere:
		return "", nil
	case f.namespace != "":
		return f.namespace, nil
	}
	ns, err := f.access.Namespace()
	if err != nil {
		return "", badUsage(err)
	}
	return cmp.Or(ns, "default"), nil
}

// rebuildJob is one run of inventory rebuild.
type rebuildJob struct {
	clusterRun
	flags     *rebuildFlags
	apply     *applyJob // nil where rows and forms are not asked
	namespace string
	nodes     []string
}

func (r *rebuildJob) perform(ctx context.Context) error {
	rebuilt, unbuilt, err := r.find(ctx)
	if err != nil {
		return err
	}
	for _, u := range unbuilt {
		_, _ = fmt.Fprintf(r.stderr, "not rebuilt: %s of node %s, such as %s: %s\n",
			count(len(u.Objects), "object"), cmp.Or(u.Node.Name, "unknown"), u.Objects[0].Full(), u.Why)
	}
	if err := r.show(rebuilt); err != nil {
		return err
	}
	if len(rebuilt) == 0 || r.run.dryRun != "none" {
		return r.left(unbuilt)
	}
	if err := r.confirm(ctx, r.flags.yes, "Record "+count(len(rebuilt), "node")+" anew?"); err != nil {
		return err
	}
	if err := r.save(ctx, rebuilt); err != nil {
		return err
	}
	return r.left(unbuilt)
}

// left is that some objects are still in no record.
func (*rebuildJob) left(unbuilt []orphan.Unbuilt) error {
	if len(unbuilt) == 0 {
		return nil
	}
	return &exitError{code: exitFailed, err: errSaid, summary: "the records of " + count(len(unbuilt), "node") + " could not be rebuilt"}
}

// find looks for what is in no record, and makes records of it.
func (r *rebuildJob) find(ctx context.Context) ([]orphan.Rebuilt, []orphan.Unbuilt, error) {
	in, err := r.input(ctx)
	if err != nil {
		return nil, nil, err
	}
	all, unbuilt := orphan.Rebuild(in)
	rebuilt := slices.DeleteFunc(all, func(b orphan.Rebuilt) bool { return !r.meant(b.Namespace, b.Node, b.Hub) })
	unbuilt = slices.DeleteFunc(unbuilt, func(u orphan.Unbuilt) bool {
		return u.Node != (apply.NodeKey{}) && !r.meant(u.Node.Namespace, u.Node.Name, u.Objects[0].From.Hub)
	})
	for _, name := range r.nodes {
		found := slices.ContainsFunc(rebuilt, func(b orphan.Rebuilt) bool { return b.Node == name }) ||
			slices.ContainsFunc(unbuilt, func(u orphan.Unbuilt) bool { return u.Node.Name == name })
		if !found {
			return nil, nil, badUsage(fmt.Errorf("nothing that is in no record bears the tracking of node %q (lynqctl orphans list --stranded lists what does)", name))
		}
	}
	return rebuilt, unbuilt, nil
}

func (r *rebuildJob) meant(namespace, node, hub string) bool {
	return (r.namespace == "" || r.namespace == namespace) &&
		(len(r.nodes) == 0 || slices.Contains(r.nodes, node)) && (len(r.flags.hubs) == 0 || slices.Contains(r.flags.hubs, hub))
}

func (r *rebuildJob) input(ctx context.Context) (*orphan.RebuildInput, error) {
	r.warnings.look(true)
	found, err := orphan.Find(ctx, r.client, orphan.Query{
		Now: time.Now(), Stranded: r.store, Filter: orphan.Filter{Reasons: []string{orphan.ReasonStranded}},
	})
	r.warnings.look(false)
	if err != nil {
		return nil, unread(ctx, err)
	}
	for _, w := range found.Warnings() {
		_, _ = fmt.Fprintln(r.stderr, "warning:", w)
	}
	in := &orphan.RebuildInput{Stranded: found.Orphans, HubNamespaces: map[string]string{}}
	if in.Inventories, err = r.store.AllNodes(ctx, ""); err != nil {
		if _, err = brokenOnes(err); err != nil {
			return nil, unread(ctx, err)
		}
	}
	if in.Hubs, err = r.store.Hubs(ctx, ""); err != nil {
		if _, err = brokenOnes(err); err != nil {
			return nil, unread(ctx, err)
		}
	}
	if r.apply == nil {
		if len(r.flags.formNames) == 1 {
			in.Form = r.flags.formNames[0]
		}
		return in, nil
	}
	for _, h := range r.apply.hubs {
		in.Nodes = append(in.Nodes, r.apply.nodes[h.hub.Name]...)
		if in.HubNamespaces[h.hub.Name], err = r.apply.flags.hubNamespace(h.hub); err != nil {
			return nil, badUsage(err)
		}
	}
	return in, nil
}

// show lists the records that are to be written.
func (r *rebuildJob) show(rebuilt []orphan.Rebuilt) error {
	l := &ui.List{
		Columns: []ui.Column{{Name: "NAMESPACE"}, {Name: "NODE"}, {Name: "HUB"}, {Name: "FORM"}, {Name: "ROW"}, {Name: "OBJECTS"}, {Name: "ADDED"}},
		Empty:   "No record is to be rebuilt",
	}
	for _, b := range rebuilt {
		l.Items = append(l.Items, ui.Item{
			Cells: []string{b.Namespace, b.Node, b.Hub, b.Form, b.RowUID, strconv.Itoa(len(b.Records)), strconv.Itoa(b.Added)},
			Name:  b.Namespace + "/" + b.Node,
			Data: map[string]any{
				"namespace": b.Namespace, "node": b.Node, "hub": b.Hub, "form": b.Form, "uid": b.RowUID, "objects": len(b.Records), "added": b.Added,
			},
		})
	}
	return failed(ui.PrintList(l, ui.Format(r.run.output), ui.NewStream(r.stdout, r.getenv), ui.NewStream(r.stderr, r.getenv)))
}

// save writes the records, and has what belonged to a lost one belong to the new
// one, where forms say what that is.
func (r *rebuildJob) save(ctx context.Context, rebuilt []orphan.Rebuilt) error {
	var places []place
	for _, b := range rebuilt {
		if p := placeOf(b.Inventory); !slices.Contains(places, p) {
			places = append(places, p)
		}
	}
	locks, _, err := r.lock(ctx, places)
	defer locks.release(ctx)
	if err != nil {
		return err
	}
	var errs []error
	objects := map[lynq.Ref]bool{}
	for _, b := range rebuilt {
		_, err := r.store.Save(locks.ctx, b.Inventory)
		errs = append(errs, err)
		for i := range b.Records {
			objects[b.Records[i].Ref] = err == nil
		}
	}
	if err := errors.Join(errs...); err != nil {
		return failed(err)
	}
	_, _ = fmt.Fprintf(r.stderr, "%s written\n", count(len(rebuilt), "record"))
	if r.apply == nil {
		return nil
	}
	r.apply.taking = &taking{recorded: objects}
	return r.apply.carryOut(locks.ctx)
}
