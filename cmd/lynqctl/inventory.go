package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/suggest"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func (a *app) inventoryCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "inventory",
		Short: "Look at the inventories of nodes",
		Long: `Every node has an inventory in the cluster, the ConfigMap lynqnode-NODE, with an
entry for each object that the node owns.`,
	},
		a.inventoryListCommand(), a.inventoryShowCommand(), a.inventoryVerifyCommand(), a.inventoryRebuildCommand(),
	)
}

// recordFlags are the flags of commands that read records.
type recordFlags struct {
	deadlineFlag
	access    kube.Access
	namespace string // once they are checked: where the nodes are, "" for everywhere
	all       bool
	hubs      []string
	forms     []string
	nodes     []string
	output    string
	// ownRecords are hubs that have a record of their own, and maybe no node.
	ownRecords []lynq.HubKey
}

func (f *recordFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.access.Register(flags)
	flags.StringVarP(&f.namespace, "namespace", "n", "", "namespace of the nodes (default: the context's)")
	flags.StringVarP(&f.output, "output", "o", "table", "table, wide, json, yaml or name")
	f.registerDeadline(cmd)
}

// registerChoice registers what narrows a command that is about many nodes.
func (f *recordFlags) registerChoice(cmd *cobra.Command) {
	f.registerNamespaces(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&f.hubs, "hub", nil, "only nodes of these hubs, as NAME or NAMESPACE/NAME")
	flags.StringSliceVar(&f.forms, "form", nil, "only nodes of these forms, as NAME or NAMESPACE/NAME")
	flags.StringSliceVar(&f.nodes, "node", nil, "only these nodes, by the names that status shows")
}

func (f *recordFlags) registerNamespaces(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&f.all, "all-namespaces", "A", false, "nodes of all namespaces")
}

// check checks the flags, and finds out which namespace is meant.
func (f *recordFlags) check() error {
	if err := errors.Join(oneOf("-o", f.output, ui.ListFormats()...), f.checkDeadline()); err != nil {
		return err
	}
	switch {
	case f.namespace != "" && !lynq.IsDNS1123Label(f.namespace):
		return badUsage(fmt.Errorf("-n: namespace %q is none that Kubernetes accepts (lower case letters, digits and dashes, at most 63)", f.namespace))
	case f.all:
		f.namespace = ""
		return nil
	case f.namespace != "":
		return nil
	}
	namespace, err := f.access.Namespace()
	if err != nil {
		return badUsage(err)
	}
	f.namespace = cmp.Or(namespace, "default")
	return nil
}

// chosen tells whether a command is about a node. Of one without a record the
// form is not known.
func (f *recordFlags) chosen(k apply.NodeKey, hub lynq.HubKey, form lynq.FormKey) bool {
	return (f.namespace == "" || f.namespace == k.Namespace) && (len(f.nodes) == 0 || slices.Contains(f.nodes, k.Name)) &&
		lynq.Names(f.hubs).Choose(hub.Namespace, hub.Name) && lynq.Names(f.forms).Choose(form.Namespace, form.Name)
}

// chooses is chosen for a node with an inventory.
func (f *recordFlags) chooses(inv *inventory.Inventory) bool {
	return f.chosen(keyOf(inv), apply.HubOf(inv), apply.FormOf(inv))
}

// mayChoose is chosen for a node of whose hub and form nobody may know: what is
// not known may be what was asked for.
func (f *recordFlags) mayChoose(node string, hub lynq.HubKey, form lynq.FormKey) bool {
	return (len(f.nodes) == 0 || node == "" || slices.Contains(f.nodes, node)) &&
		(hub.Name == "" || lynq.Names(f.hubs).Choose(hub.Namespace, hub.Name)) &&
		(form.Name == "" || lynq.Names(f.forms).Choose(form.Namespace, form.Name))
}

// recorded are the records of a namespace, or of all.
type recorded struct {
	chosen []*inventory.Inventory
	others []*inventory.Inventory
	// broken are those that cannot be read, which may be of any hub and form.
	broken []*inventory.RecordError
	// ignored are those that do not count, chosen or not.
	ignored  apply.Ignored
	counting apply.Counting
}

// read reads the records that the flags choose, and all others of their
// namespaces.
func (f *recordFlags) read(ctx context.Context, hubs *hubRecords) (*recorded, error) {
	r, err := f.readAll(ctx, hubs)
	if err != nil {
		return nil, err
	}
	return r, f.unknown(r)
}

// readAll is read for flags that may name what has no record.
func (f *recordFlags) readAll(ctx context.Context, hubs *hubRecords) (*recorded, error) {
	all, err := hubs.store.AllNodes(ctx, f.namespace)
	broken, err := brokenOnes(err)
	if err != nil {
		return nil, unread(ctx, err)
	}
	r := &recorded{}
	if r.counting, err = hubs.counting(ctx, all, broken); err != nil {
		return nil, unread(ctx, err)
	}
	all, broken, r.ignored = r.counting.Split(all, broken)
	chosenHubs := f.hubsAmong(all, r.counting)
	r.broken = slices.DeleteFunc(broken, func(b *inventory.RecordError) bool {
		return !f.mayConcern(b) || b.Hub == "" && r.counting.Apart(b.Namespace, chosenHubs)
	})
	for _, inv := range all {
		if f.chooses(inv) {
			r.chosen = append(r.chosen, inv)
		} else {
			r.others = append(r.others, inv)
		}
	}
	return r, nil
}

// hubsAmong are the hubs that --hub chooses, of all namespaces, none where it is not
// said: what does not say its hub is theirs at most where they have nodes.
func (f *recordFlags) hubsAmong(inventories []*inventory.Inventory, counting apply.Counting) []lynq.HubKey {
	if f.namespace != "" || len(f.hubs) == 0 {
		return nil
	}
	hubs := slices.Collect(maps.Keys(counting))
	for _, inv := range inventories {
		hubs = append(hubs, apply.HubOf(inv))
	}
	return slices.DeleteFunc(hubs, func(hub lynq.HubKey) bool { return !lynq.Names(f.hubs).Choose(hub.Namespace, hub.Name) })
}

// mayConcern tells whether a record that cannot be read may be one that the flags
// choose: as far as its labels can be read, they say of which hub and form it is.
func (f *recordFlags) mayConcern(b *inventory.RecordError) bool {
	return f.mayChoose(b.Node, apply.HubOfBroken(b), apply.FormOfBroken(b))
}

// ignored warns of the records that the flags choose and that do not count.
func (f *recordFlags) ignored(all *apply.Ignored) []string {
	var meant apply.Ignored
	for _, inv := range all.Inventories {
		if f.chooses(inv) {
			meant.Inventories = append(meant.Inventories, inv)
		}
	}
	for _, b := range all.Broken {
		if f.mayConcern(b) {
			meant.Broken = append(meant.Broken, b)
		}
	}
	return meant.Warnings()
}

// unknown refuses names that no record has. A broken record may have any of hub
// and form.
func (f *recordFlags) unknown(r *recorded) error {
	nodes, hubs, forms := []string{}, []string{}, []string{}
	for _, hub := range f.ownRecords {
		hubs = append(hubs, hub.Name, hub.String())
	}
	for _, inv := range slices.Concat(r.chosen, r.others) {
		hub, form := apply.HubOf(inv), apply.FormOf(inv)
		nodes, hubs, forms = append(nodes, inv.Node), append(hubs, hub.Name, hub.String()), append(forms, form.Name, form.String())
	}
	for _, b := range r.broken {
		nodes = append(nodes, b.Node)
	}
	err := f.unrecorded("node", f.nodes, nodes)
	if len(r.broken) == 0 {
		err = errors.Join(err, f.unrecorded("hub", f.hubs, hubs), f.unrecorded("form", f.forms, forms))
	}
	if err != nil {
		for _, w := range f.ignored(&r.ignored) {
			err = fmt.Errorf("%w\n%s", err, w)
		}
		return badUsage(err)
	}
	return nil
}

// unrecorded are the wanted names that are not among those of records. Names with
// their namespaces are what is hinted at where such a one is wanted.
func (f *recordFlags) unrecorded(what string, wanted, names []string) error {
	slices.Sort(names)
	names = slices.Compact(names)
	var errs []error
	for _, w := range wanted {
		if slices.Contains(names, w) {
			continue
		}
		near := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return strings.Contains(name, "/") != strings.Contains(w, "/") })
		var hints []string
		if fix := suggest.Fix(w, near); fix != "" {
			hints = append(hints, fix)
		}
		if f.namespace != "" {
			hints = append(hints, "-n names another namespace")
		}
		hint := ""
		if len(hints) > 0 {
			hint = " (" + strings.Join(hints, "; ") + ")"
		}
		errs = append(errs, fmt.Errorf("no record of %s %q in %s%s", what, w, f.where(), hint))
	}
	return errors.Join(errs...)
}

// where names the namespaces that were looked at.
func (f *recordFlags) where() string {
	if f.namespace == "" {
		return "any namespace"
	}
	return fmt.Sprintf("namespace %q", f.namespace)
}

// warnings name the records that cannot be read.
func (r *recorded) warnings() []string {
	warnings := make([]string, len(r.broken))
	for i, b := range r.broken {
		warnings[i] = b.Error()
	}
	return warnings
}

// incomplete is the end of a command that did what it could.
func (r *recorded) incomplete() error {
	if len(r.broken) == 0 {
		return nil
	}
	return &exitError{code: exitFailed, err: errSaid, summary: count(len(r.broken), "record") + " could not be read"}
}

// unread is an error of a command that reads and could not.
func unread(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		err = cause
	}
	return &exitError{code: exitBadInput, err: err}
}

// printList prints a list as the flags want it.
func (f *recordFlags) printList(a *app, l *ui.List) error {
	return failed(ui.PrintList(l, ui.Format(f.output), ui.NewStream(a.stdout, a.getenv), ui.NewStream(a.stderr, a.getenv)))
}
