package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
		Short: "Look at the records of what nodes own",
		Long: `Every node has a record in the cluster of what it owns: its inventory, the
ConfigMap lynqnode-NODE.`,
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
	ownRecords []string
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
	flags.StringSliceVar(&f.hubs, "hub", nil, "only nodes of these hubs")
	flags.StringSliceVar(&f.forms, "form", nil, "only nodes of these forms")
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
func (f *recordFlags) chosen(k apply.NodeKey, hub, form string) bool {
	has := func(names []string, name string) bool { return len(names) == 0 || slices.Contains(names, name) }
	return (f.namespace == "" || f.namespace == k.Namespace) &&
		has(f.hubs, hub) && has(f.forms, form) && has(f.nodes, k.Name)
}

// recorded are the records of a namespace, or of all.
type recorded struct {
	chosen []*inventory.Inventory
	others []*inventory.Inventory
	// broken are those that cannot be read, which may be of any hub and form.
	broken []*inventory.RecordError
}

// read reads the records that the flags choose, and all others of their
// namespaces.
func (f *recordFlags) read(ctx context.Context, client *kube.Client) (*recorded, error) {
	all, err := inventory.NewStore(client.ConfigMaps()).AllNodes(ctx, f.namespace)
	r := &recorded{}
	if broken := (*inventory.BrokenError)(nil); errors.As(err, &broken) {
		r.broken = slices.DeleteFunc(broken.Records, func(b *inventory.RecordError) bool { return !f.mayConcern(b) })
	} else if err != nil {
		return nil, unread(ctx, err)
	}
	for _, inv := range all {
		if f.chosen(apply.NodeKey{Namespace: inv.Namespace, Name: inv.Node}, inv.Hub, inv.Form) {
			r.chosen = append(r.chosen, inv)
		} else {
			r.others = append(r.others, inv)
		}
	}
	return r, f.unknown(all, r.broken)
}

// mayConcern tells whether a record that cannot be read may be one that the flags
// choose: as far as its labels can be read, they say of which hub and form it is.
func (f *recordFlags) mayConcern(b *inventory.RecordError) bool {
	may := func(names []string, name string) bool {
		return len(names) == 0 || name == "" || slices.Contains(names, name)
	}
	return may(f.nodes, b.Node) && may(f.hubs, b.Hub) && may(f.forms, b.Form)
}

// unknown refuses names that no record has. A broken record may have any of hub
// and form.
func (f *recordFlags) unknown(all []*inventory.Inventory, broken []*inventory.RecordError) error {
	nodes, hubs, forms := []string{}, slices.Clone(f.ownRecords), []string{}
	for _, inv := range all {
		nodes, hubs, forms = append(nodes, inv.Node), append(hubs, inv.Hub), append(forms, inv.Form)
	}
	for _, b := range broken {
		nodes = append(nodes, b.Node)
	}
	err := f.unrecorded("node", f.nodes, nodes)
	if len(broken) == 0 {
		err = errors.Join(err, f.unrecorded("hub", f.hubs, hubs), f.unrecorded("form", f.forms, forms))
	}
	if err != nil {
		return badUsage(err)
	}
	return nil
}

// unrecorded are the wanted names that are not among those of records.
func (f *recordFlags) unrecorded(what string, wanted, names []string) error {
	slices.Sort(names)
	names = slices.Compact(names)
	var errs []error
	for _, w := range wanted {
		if slices.Contains(names, w) {
			continue
		}
		var hints []string
		if fix := suggest.Fix(w, names); fix != "" {
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
