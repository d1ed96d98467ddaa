package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/inventory"
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
		Short: "Rebuild inventories that were lost",
		Long: `Rebuild the inventories of nodes from the labels, owner references and
annotations of objects that have the nodes' tracking and no entry in an
inventory. The new entries are shown first, and nothing is written that was not
confirmed.

With -f it is about the hubs there, and rows and forms say of which form and row
a node is, and what depends on what; what belonged to a lost inventory belongs
to the new one then. Without -f it is about all nodes of a namespace, and the
form is that of other nodes of the hub, or that of --form: enough to delete a
node with lynqctl delete.

An inventory that exists and lacks an entry is completed. Objects do not say all
that an entry does: all entries count as not confirmed, and the next apply looks
at each object once.

Exit codes: 0 done, or nothing to do; 1 not all could be rebuilt, the rest was
done; 2 bad usage or input, nothing was touched; 3 not confirmed, or another run
has the hub, nothing was touched; 130 interrupted.`,
		Example: `  # After an inventory was lost
  lynqctl inventory rebuild -f forms/

  # Of a row that is gone too, so that its node can be deleted
  lynqctl inventory rebuild acme-web -n shop --form web`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.inventoryRebuild(cmd.Context(), &f, args) },
	}
	f.inputFlags.register(cmd)
	f.registerAll(cmd)
	f.registerSources(cmd)
	f.registerRun(cmd)
	flags := cmd.Flags()
	flags.Lookup("output").Usage = "how the inventories are shown: table, wide, json, yaml or name"
	flags.Lookup("dry-run").Usage = "none, client or server; these two show the inventories and write nothing"
	flags.Lookup("namespace").Usage = "only nodes of this namespace (default: the context's; with -f, wherever the nodes are)"
	flags.Lookup("form").Usage = "with -f: only these forms; else: the form of nodes of which nothing else tells"
	flags.BoolVarP(&f.everywhere, "all-namespaces", "A", false, "nodes of all namespaces")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	flags.BoolVar(&f.noFinalizer, "no-finalizer", false, "make inventories without the finalizer that lets a deletion by hand be cleaned up")
	return cmd
}

func (a *app) inventoryRebuild(ctx context.Context, f *rebuildFlags, nodes []string) error {
	namespace, err := f.scope()
	if err != nil {
		return err
	}
	if f.dryRun == "none" {
		if err := a.mayGoOn(f.yes); err != nil {
			return err
		}
	}
	r := rebuildJob{flags: f, namespace: namespace, nodes: nodes}
	if len(f.paths) > 0 {
		return a.withApplyJob(ctx, &f.applyFlags, func(ctx context.Context, j *applyJob) error {
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
	if _, _, err := f.check(); err != nil {
		return err
	}
	ctx, cancel := f.deadline(ctx)
	defer cancel()
	client, warnings, err := a.connect(&f.access)
	if err != nil {
		return err
	}
	r.clusterRun = a.newClusterRun(&f.runFlags, client, warnings)
	if err := r.look(ctx); err != nil {
		return err
	}
	return r.perform(ctx)
}

// scope is the namespace of the nodes that are meant, "" for all.
func (f *rebuildFlags) scope() (string, error) {
	switch {
	case f.everywhere && f.namespace != "":
		return "", badUsage(errors.New("-A and -n exclude each other"))
	case len(f.paths) == 0 && len(f.formNames) > 1:
		return "", badUsage(errors.New("without -f, --form takes one form"))
	case f.everywhere, len(f.paths) > 0 && f.namespace == "":
		return "", nil // with inputs, wherever their nodes are
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
	stranded  []orphan.Orphan
	broken    []*inventory.RecordError // of the nodes that are meant
	hubs      lynq.Names               // that are meant
}

func (r *rebuildJob) perform(ctx context.Context) error {
	rebuilt, unbuilt, err := r.find(ctx)
	if err != nil {
		return err
	}
	for _, u := range unbuilt {
		of := "node " + u.Node.String()
		if u.Node.Name == "" {
			of = "an unknown node in namespace " + u.Node.Namespace
		}
		_, _ = fmt.Fprintf(r.stderr, "not rebuilt: %s of %s, such as %s: %s\n", count(len(u.Objects), "object"), of, u.Objects[0].Full(), u.Why)
	}
	for _, b := range r.broken {
		_, _ = fmt.Fprintf(r.stderr, "not rebuilt: ConfigMap %s/%s cannot be read (to have it created again, take its finalizers off, delete it with kubectl delete --cascade=orphan, and run this again)\n", b.Namespace, b.Name)
	}
	r.tellOthers(rebuilt)
	if err := r.show(rebuilt); err != nil {
		return err
	}
	if len(rebuilt) > 0 && r.run.dryRun == "none" {
		if err := r.confirm(ctx, r.flags.yes, question(rebuilt)); err != nil {
			return err
		}
		if err := r.save(ctx, rebuilt); err != nil {
			return err
		}
	}
	return r.left(unbuilt)
}

// left is that some objects are still in no record. Those of which nobody knows
// the node are none of the nodes that were named.
func (r *rebuildJob) left(unbuilt []orphan.Unbuilt) error {
	objects := 0
	for _, u := range unbuilt {
		if u.Node.Name != "" || len(r.nodes) == 0 {
			objects += len(u.Objects)
		}
	}
	switch {
	case objects > 0:
		return &exitError{code: exitFailed, err: errSaid, summary: count(objects, "object") + " could not be recorded"}
	case len(r.broken) > 0:
		return &exitError{code: exitFailed, err: errSaid, summary: count(len(r.broken), "record") + " could not be read"}
	}
	return nil
}

// question asks whether records are to be written, and says which.
func question(rebuilt []orphan.Rebuilt) string {
	anew, completed, objects := 0, 0, 0
	for _, b := range rebuilt {
		if b.UID == "" {
			anew++
		} else {
			completed++
		}
		objects += b.Added
	}
	var parts []string
	if anew > 0 {
		parts = append(parts, "write "+count(anew, "new record"))
	}
	if completed > 0 {
		parts = append(parts, "complete "+count(completed, "record"))
	}
	text := strings.Join(parts, " and ") + ", of " + count(objects, "object") + " that none names?"
	return strings.ToUpper(text[:1]) + text[1:]
}

// find looks for what is in no record, and makes records of it.
func (r *rebuildJob) find(ctx context.Context) ([]orphan.Rebuilt, []orphan.Unbuilt, error) {
	in, err := r.input(ctx)
	if err != nil {
		return nil, nil, err
	}
	rebuilt, unbuilt := orphan.Rebuild(in)
	rebuilt = slices.DeleteFunc(rebuilt, func(b orphan.Rebuilt) bool {
		return !r.meant(keyOf(b.Inventory), b.HubKey()) || r.apply != nil && len(r.flags.formNames) > 0 && !r.formMeant(b.Inventory)
	})
	unbuilt = slices.DeleteFunc(unbuilt, func(u orphan.Unbuilt) bool { return !r.meant(u.Node, lynq.HubKey{Name: u.Hub}) })
	var errs []error
	for _, name := range r.nodes {
		is := func(k apply.NodeKey) bool { return k.Name == name || k.String() == name }
		if !slices.ContainsFunc(rebuilt, func(b orphan.Rebuilt) bool { return is(keyOf(b.Inventory)) }) &&
			!slices.ContainsFunc(unbuilt, func(u orphan.Unbuilt) bool { return is(u.Node) }) {
			errs = append(errs, fmt.Errorf("no object of node %q lacks a record%s (lynqctl orphans list -A --stranded lists what does)", name, r.where()))
		}
	}
	if len(errs) > 0 {
		return nil, nil, &exitError{code: exitBadInput, err: errors.Join(errs...), summary: "nothing was touched"}
	}
	return rebuilt, unbuilt, nil
}

// where names the namespace of the nodes that are meant.
func (r *rebuildJob) where() string {
	if r.namespace == "" {
		return ""
	}
	return " in namespace " + r.namespace
}

// meant tells whether the command is about a node; one without a name may be any
// of its namespace.
func (r *rebuildJob) meant(key apply.NodeKey, hub lynq.HubKey) bool {
	return (r.namespace == "" || r.namespace == key.Namespace) && mayChooseHub(r.hubs, hub) &&
		(len(r.nodes) == 0 || key.Name == "" || slices.Contains(r.nodes, key.Name) || slices.Contains(r.nodes, key.String()))
}

// formMeant tells whether --form means the form of a node.
func (r *rebuildJob) formMeant(inv *inventory.Inventory) bool {
	form := apply.FormOf(inv)
	return lynq.Names(r.flags.formNames).Choose(form.Namespace, form.Name)
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
	in := &orphan.RebuildInput{Stranded: r.stranded, Chosen: r.flags.hubs, NoFinalizer: r.flags.noFinalizer}
	r.hubs = r.hubsMeant()
	if err := r.readRecords(ctx, in); err != nil {
		return nil, unread(ctx, err)
	}
	if r.apply == nil {
		if len(r.flags.formNames) == 1 {
			namespace, form, said := strings.Cut(r.flags.formNames[0], "/")
			if in.Form, in.FormNamespace = form, namespace; !said {
				in.Form, in.FormNamespace = namespace, ""
			}
		}
		return in, nil
	}
	for _, h := range r.apply.hubs {
		in.Nodes = append(in.Nodes, r.apply.nodes[h.key]...)
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
	kept, broken, _ := apply.NewCounting(in.Hubs, inventories).Split(inventories, all)
	if in.Inventories = kept; r.namespace != "" {
		broken = all
	}
	r.broken = slices.DeleteFunc(slices.Clone(broken), func(b *inventory.RecordError) bool {
		return !r.meant(apply.NodeKey{Namespace: b.Namespace, Name: b.Node}, lynq.HubKey{Namespace: b.HubNamespace, Name: b.Hub})
	})
	return nil
}

// hubsMeant are those of the inputs, or those of --hub.
func (r *rebuildJob) hubsMeant() lynq.Names {
	if r.apply == nil {
		return r.flags.hubs
	}
	var names lynq.Names
	for _, h := range r.apply.hubs {
		names = append(names, h.key.String())
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
		_, _ = fmt.Fprintf(r.stderr, "hub %s is in namespaces %s and %s: the inventory is rebuilt for the one in %s (say --hub %s for the other)\n",
			hub.Name, strings.Join(namespaces[:last], ", "), namespaces[last], hub.Namespace, strings.Join(others, " or "))
	}
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
			Data:  rebuiltData{b.Node, b.Namespace, b.Hub, b.HubNamespace, b.Form, b.RowUID, len(b.Records), b.Added},
		})
	}
	return failed(ui.PrintList(l, ui.Format(r.run.output), ui.NewStream(r.stdout, r.getenv), ui.NewStream(r.stderr, r.getenv)))
}

// rebuiltData is a record as JSON and YAML have it (docs/inventory.md).
type rebuiltData struct {
	Node         string `json:"node"`
	Namespace    string `json:"namespace"`
	Hub          string `json:"hub"`
	HubNamespace string `json:"hubNamespace,omitempty"`
	Form         string `json:"form"`
	UID          string `json:"uid"`
	Objects      int    `json:"objects"`
	Added        int    `json:"added"`
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
	written := len(rebuilt)
	for _, err := range errs {
		if err != nil {
			written--
		}
	}
	_, _ = fmt.Fprintf(r.stderr, "%s written\n", count(written, "record"))
	err = failed(errors.Join(errs...))
	if r.apply != nil {
		r.apply.client, r.apply.store = r.client, r.store
		err = errors.Join(err, r.retrack(locks.ctx, objects))
	}
	return err
}

// retrack has what belonged to a lost record belong to the new one. The list of
// the records is all that standard output gets.
func (r *rebuildJob) retrack(ctx context.Context, objects map[lynq.Ref]bool) error {
	outside := *r.apply.app
	outside.stdout = io.Discard
	r.apply.app, r.apply.run.output = &outside, string(ui.Table)
	r.apply.taking = &taking{recorded: objects}
	err := r.apply.carryOut(ctx)
	if known := (*exitError)(nil); errors.As(err, &known) && known.code != exitFailed {
		return &exitError{code: exitFailed, err: err, summary: "the records are written, and the next apply puts right what belongs to them"}
	}
	return err
}
