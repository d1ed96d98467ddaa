package command

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/cli"
	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
)

func inventoryCommand(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "inventory",
		Short: "Inspect and repair inventories",
		Long: `Inspect and repair inventories. The inventory of a node is the ConfigMap
lynqnode-NODE, with one entry for each object that the node owns. From it,
lynqctl knows what it may update and delete.`,
	},
		inventoryListCommand(a), inventoryShowCommand(a), inventoryVerifyCommand(a), inventoryRestoreCommand(a), inventoryRebuildCommand(a),
	)
}

// inventoryFlags are the flags of commands that read inventories.
type inventoryFlags struct {
	options  session.InventoryOptions
	print    cmdflags.Print
	all      bool
	selector string
}

func (f *inventoryFlags) register(flags *pflag.FlagSet) {
	f.options.Access.Register(flags)
	flags.StringVarP(&f.options.Namespace, "namespace", "n", "", "namespace (default: from the kubeconfig context)")
	f.print.Register(flags)
	cmdflags.RegisterTimeout(flags, &f.options.Timeout)
}

// registerChoice registers the flags that narrow a command about many nodes.
func (f *inventoryFlags) registerChoice(flags *pflag.FlagSet) {
	f.registerNamespaces(flags)
	flags.StringSliceVar(&f.options.Hubs, "hub", nil, "limit to these hubs (NAME or NAMESPACE/NAME)")
	flags.StringSliceVar(&f.options.Forms, "form", nil, "limit to these forms (NAME or NAMESPACE/NAME)")
	flags.StringSliceVar(&f.options.Nodes, "node", nil, "limit to these nodes (as shown by 'lynqctl status')")
}

func (f *inventoryFlags) registerNamespaces(flags *pflag.FlagSet) {
	flags.BoolVarP(&f.all, "all-namespaces", "A", false, "search all namespaces")
	f.print.RegisterList(flags)
}

func (f *inventoryFlags) registerSelector(flags *pflag.FlagSet) {
	flags.StringVarP(&f.selector, "selector", "l", "", "limit to nodes whose inventories match this label selector")
}

// registerIgnore registers the flag for commands that take names.
func (f *inventoryFlags) registerIgnore(flags *pflag.FlagSet) {
	flags.BoolVar(&f.options.IgnoreNotFound, "ignore-not-found", false, "don't treat a missing resource as an error")
}

// printDetails prints the nodes that the flags name. For several, it prints a list.
func (f *inventoryFlags) printDetails(a *app, all []*list.Details) error {
	format, out := tty.Format(f.print.Output), a.Out()
	switch {
	case len(f.options.Nodes) > 1:
		return session.Fail(list.PrintAllDetails(all, format, out))
	case len(all) == 1:
		return session.Fail(list.PrintDetails(all[0], format, out))
	}
	return nil
}

// view returns the settings for lists of nodes.
func (f *inventoryFlags) view(failedOnly bool) *ui.NodeView {
	return &ui.NodeView{Namespace: f.options.Namespace, Where: f.options.Where(), FailedOnly: failedOnly}
}

// check checks the flags, and finds the namespace.
func (f *inventoryFlags) check() error { return f.checkIn(session.NamespaceMeant) }

// checkIn works like check, with a function that finds the namespace.
func (f *inventoryFlags) checkIn(meant func(access *kube.Access, namespace string, everywhere bool) (string, error)) error {
	if err := errors.Join(f.print.Check(), cmdflags.CheckTimeout(f.options.Timeout)); err != nil {
		return err
	}
	var err error
	if f.options.Selector, err = cmdflags.ParseSelector(f.selector); err != nil {
		return err
	}
	f.options.Namespace, err = meant(&f.options.Access, f.options.Namespace, f.all)
	return err
}
