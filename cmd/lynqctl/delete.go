package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/cli"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/engine"
)

// removalFlags are the flags of the commands that let nodes go.
type removalFlags struct {
	engine.RemoveOptions
	run       runFlags
	namespace string
	hub       string
}

func (f *removalFlags) register(flags *pflag.FlagSet) {
	flags.StringVarP(&f.namespace, "namespace", "n", "", "")
	f.Access.Register(flags)
	registerTimeout(flags, &f.Timeout)
	f.run.registerRun(flags)
	flags.BoolVarP(&f.Yes, "yes", "y", false, "do not ask")
	registerFiles(flags, &f.Inputs.InputOptions)
	flags.Lookup("filename").Usage = "file or directory with hubs and forms to check resources with runOn: Delete against, '-' for standard input (may be repeated)"
}

func (f *removalFlags) check() error {
	if err := engine.CheckNamespace(f.namespace); err != nil {
		return err
	}
	err := errors.Join(f.run.checkRun(), checkTimeout(f.Timeout))
	f.RunOptions, f.Inputs.Namespace = f.run.RunOptions, f.namespace
	return err
}

// deleteFlags are the flags of the delete commands.
type deleteFlags struct {
	removalFlags
	cascade       string
	ignoreMissing bool
}

func (f *deleteFlags) register(flags *pflag.FlagSet, of string) {
	f.removalFlags.register(flags)
	flags.Lookup("namespace").Usage = of
	flags.StringVar(&f.cascade, "cascade", "background", "background (leave to the garbage collector what it deletes just so), foreground (wait for everything, also for what belongs to the objects), or orphan (delete no object)")
	flags.BoolVar(&f.ignoreMissing, "ignore-not-found", false, "what is not there is no error")
}

func (f *deleteFlags) registerHub(flags *pflag.FlagSet) {
	flags.StringVar(&f.hub, "hub", "", "hub of the form, as NAME or NAMESPACE/NAME, where several have one of that name")
}

// deletableTypes are the types of what is deleted by name.
func deletableTypes() []string { return []string{"node", "form", "hub"} }

func (a *app) deleteCommand() *cobra.Command {
	f := deleteFlags{removalFlags: removalFlags{run: defaultRunFlags()}}
	cmd := &cobra.Command{
		Use:   "delete node|form|hub NAME...|TYPE/NAME...",
		Short: "Delete nodes, under the deletion policies that were recorded",
		Long: `Delete nodes: some, all of a form, or all of a hub with the hub record.

What was recorded decides, not what forms say now: objects with deletionPolicy
Delete are deleted, each when all that depended on it are gone; objects with
Retain stay, marked as orphans, which lynqctl orphans lists. The inventory of
a node is deleted last. What has another owner by now is released.

The rows are not asked: a node whose row is active comes back with the next
apply.

Without -f, lynqctl runs a recorded resource with runOn: Delete only in the
namespace of the node's inventory. With -f, it runs what the node's form
declares, in any namespace.` + deletionAsks,
		Example: `  # As kubectl names things
  lynqctl delete node/acme-web node/bolt-web -n shop --ignore-not-found

  # The form runs a Job in another namespace before the node is deleted
  lynqctl delete node/acme-web -n shop -f forms/`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && !strings.Contains(args[0], "/") {
				return cli.NoCommand(cmd, args[0])
			}
			_, err := typedNames(args, deletableTypes())
			return err
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			named, err := typedNames(args, deletableTypes())
			if err != nil {
				return engine.BadUsage(err)
			}
			return a.delete(cmd.Context(), &f, named)
		},
	}
	f.register(cmd.Flags(), "namespace of nodes and hubs (default: the context's), and of the hubs of forms")
	f.registerHub(cmd.Flags())
	cmd.AddCommand(
		a.deleteSome("node", "Delete nodes", `  # Look first: what would go, and what would stay
  lynqctl delete node acme-web -n shop --dry-run=client

  # One tenant goes; its volumes stay if their policy says Retain
  lynqctl delete node acme-web -n shop`),
		a.deleteSome("form", "Delete all nodes of forms", `  # In a CI job, after the form has left the repository
  lynqctl delete form web --hub crm --yes`),
		a.deleteSome("hub", "Delete all nodes of hubs, and the hub records", `  # All tenants go, and every object stays, marked as an orphan
  lynqctl delete hub crm -n shop --cascade=orphan`),
	)
	return cmd
}

// deletionAsks tells what is asked and how it ends, for --help.
const deletionAsks = `

On a terminal, the plan is shown and you are asked to confirm it, for a hub by
typing its name; elsewhere --yes is required.

Exit codes: 0 done; 1 something failed, the rest was done; 2 bad usage, or no
such name, nothing was touched; 3 not confirmed, or refused by a guard, nothing
was touched; 130 interrupted, and the inventories are correct.`

// deleteSome is one of delete's commands.
func (a *app) deleteSome(what, short, example string) *cobra.Command {
	f := deleteFlags{removalFlags: removalFlags{run: defaultRunFlags()}}
	cmd := &cobra.Command{
		Use:   what + " NAME...",
		Short: short,
		Long: short + `.

The deletion policies that were recorded decide: objects with Delete go, those
with Retain stay as orphans.` + deletionAsks,
		Example: example,
		Args:    someNames("delete "+what, what, "lynqctl status -A"),
		RunE: func(cmd *cobra.Command, args []string) error {
			named := make([]typedName, len(args))
			for i, name := range args {
				named[i] = typedName{what, name}
			}
			return a.delete(cmd.Context(), &f, named)
		},
	}
	f.register(cmd.Flags(), map[string]string{
		"node": "namespace of the nodes", "form": "namespace of the form's hub", "hub": "namespace of the hubs",
	}[what])
	if what == "form" {
		f.registerHub(cmd.Flags())
	}
	return cmd
}

// delete is the command.
func (a *app) delete(ctx context.Context, f *deleteFlags, named []typedName) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := oneOf("--cascade", f.cascade, "background", "foreground", "orphan"); err != nil {
		return err
	}
	o := &engine.DeleteOptions{RemoveOptions: f.RemoveOptions, IgnoreNotFound: f.ignoreMissing, Cascade: plan.Cascade(f.cascade)}
	for _, n := range named {
		target, err := engine.TargetOf(&f.Access, n.what, n.name, f.namespace, f.hub)
		if err != nil {
			return err
		}
		if !slices.Contains(o.Targets, target) {
			o.Targets = append(o.Targets, target)
		}
	}
	return a.engine(f.run.output).Delete(ctx, o)
}
