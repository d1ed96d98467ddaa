package command

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/cli"
	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/usecase/delete"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

// removalFlags are the flags of the commands that delete nodes.
type removalFlags struct {
	options   delete.RemoveOptions
	run       cmdflags.Run
	namespace string
	hub       string
}

func (f *removalFlags) register(flags *pflag.FlagSet) {
	flags.StringVarP(&f.namespace, "namespace", "n", "", "")
	f.options.Access.Register(flags)
	cmdflags.RegisterTimeout(flags, &f.options.Timeout)
	f.run.Register(flags)
	f.run.RegisterExpand(flags)
	flags.BoolVarP(&f.options.Yes, "yes", "y", false, "don't ask for confirmation")
	cmdflags.RegisterFiles(flags, &f.options.Declared.Inputs)
	flags.Lookup("filename").Usage = "file or directory with hubs and forms, to check resources with runOn Delete; repeatable"
}

func (f *removalFlags) check() error {
	if err := session.CheckKeptTo(&f.options.Access, f.namespace); err != nil {
		return err
	}
	err := errors.Join(f.run.Check(), cmdflags.CheckTimeout(f.options.Timeout))
	f.options.Run, f.options.Declared.Namespace = f.run.RunOptions, f.namespace
	return err
}

// deleteFlags are the flags of the delete commands.
type deleteFlags struct {
	removal       removalFlags
	plan          cmdflags.Plan
	cascade       string
	ignoreMissing bool
}

func (f *deleteFlags) register(flags *pflag.FlagSet, of string) {
	f.removal.register(flags)
	cmdflags.RegisterKeptTo(flags, &f.removal.options.Access)
	flags.Lookup("namespace").Usage = of
	f.plan.Register(flags, "delete")
	flags.StringVar(&f.cascade, "cascade", "background", "how to delete dependents: background, foreground (wait until everything is gone), or orphan (keep every object)")
	flags.BoolVar(&f.ignoreMissing, "ignore-not-found", false, "don't treat a missing resource as an error")
}

func (f *deleteFlags) registerHub(flags *pflag.FlagSet) {
	flags.StringVar(&f.removal.hub, "hub", "", "hub of the form (NAME or NAMESPACE/NAME), if several hubs have a form with this name")
}

// deletableTypes returns the types of the things that delete can delete by name.
func deletableTypes() []string { return []string{"node", "form", "hub"} }

func deleteCommand(a *app) *cobra.Command {
	f := deleteFlags{removal: removalFlags{run: cmdflags.NewRun()}}
	cmd := &cobra.Command{
		Use:        "delete node|form|hub NAME...|TYPE/NAME...",
		SuggestFor: []string{"remove", "rm", "uninstall", "destroy", "down"},
		Short:      "Delete nodes and the objects they own",
		Long:       deleteLong + deletionAsks,
		Example: `  # Use TYPE/NAME, as with kubectl
  lynqctl delete node/acme-web node/bolt-web -n shop --ignore-not-found

  # Let the form run a Job in another namespace before the node is deleted
  lynqctl delete node/acme-web -n shop -f forms/`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && !strings.Contains(args[0], "/") {
				return cli.NoCommand(cmd, args[0])
			}
			_, err := cmdflags.TypedNames(args, deletableTypes())
			return err
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && len(cli.Given(cmd.LocalFlags(), nil)) > 0 {
				return session.BadUsage(errors.New("name what to delete: node NAME, form NAME, or hub NAME"))
			}
			if len(args) == 0 {
				return cmd.Help()
			}
			named, err := cmdflags.TypedNames(args, deletableTypes())
			if err != nil {
				return session.BadUsage(err)
			}
			return a.delete(cmd.Context(), &f, named)
		},
	}
	f.register(cmd.Flags(), "namespace (default: from the kubeconfig context)")
	f.registerHub(cmd.Flags())
	cmd.AddCommand(
		deleteSome(a, "node", "Delete one or more nodes", "Delete one or more nodes.", `  # Preview what is deleted and what is kept
  lynqctl delete node acme-web -n shop --dry-run=client

  # Delete one tenant, and keep volumes with deletionPolicy Retain
  lynqctl delete node acme-web -n shop`),
		deleteSome(a, "form", "Delete every node of one or more forms", `Delete every node of one or more forms. Run this after you remove a form from
your files, because apply keeps the nodes of such a form.`, `  # In CI, delete a form's nodes after the form left the repository
  lynqctl delete form web --hub crm --yes`),
		deleteSome(a, "hub", "Delete every node of one or more hubs", "Delete every node of one or more hubs, and then the hub records and histories.", `  # Delete all nodes, and keep every object as an orphan
  lynqctl delete hub crm -n shop --cascade=orphan`),
	)
	return cmd
}

// deletionKeeps says in --help which objects lynqctl keeps.
const deletionKeeps = `

lynqctl keeps objects whose recorded deletionPolicy is Retain or RetainOnDelete,
and marks them as orphans.`

// deletionAsks says in --help what delete asks, and how it ends.
const deletionAsks = `

In a terminal, delete shows its plan and asks you to confirm. To delete a hub,
you type its name. Elsewhere, pass --yes.

Exit codes:
  0    success
  1    something failed; the rest was deleted
  2    invalid usage, or no such name; nothing changed
  3    not confirmed, or refused by a guard; nothing changed
  130  interrupted; run the command again to continue`

// deleteSome returns one of delete's commands.
func deleteSome(a *app, what, short, long, example string) *cobra.Command {
	f := deleteFlags{removal: removalFlags{run: cmdflags.NewRun()}}
	cmd := &cobra.Command{
		Use:     what + " NAME...",
		Short:   short,
		Long:    long + deletionKeeps + deletionAsks,
		Example: example,
		Args:    cmdflags.SomeNames("delete "+what, what, "lynqctl status -A"),
		RunE: func(cmd *cobra.Command, args []string) error {
			named := make([]cmdflags.TypedName, len(args))
			for i, name := range args {
				named[i] = cmdflags.TypedName{What: what, Name: name}
			}
			return a.delete(cmd.Context(), &f, named)
		},
	}
	f.register(cmd.Flags(), map[string]string{
		"node": "namespace (default: from the kubeconfig context)", "form": "namespace of the form's hub", "hub": "namespace (default: from the kubeconfig context)",
	}[what])
	if what == "form" {
		f.registerHub(cmd.Flags())
	}
	return cmd
}

// delete runs the command.
func (a *app) delete(ctx context.Context, f *deleteFlags, named []cmdflags.TypedName) error {
	if err := f.removal.check(); err != nil {
		return err
	}
	if err := f.plan.Apply(&f.removal.options.Run); err != nil {
		return err
	}
	if err := cmdflags.OneOf("--cascade", f.cascade, "background", "foreground", "orphan"); err != nil {
		return err
	}
	o := &delete.Options{RemoveOptions: f.removal.options, IgnoreNotFound: f.ignoreMissing, Cascade: plan.Cascade(f.cascade)}
	for _, n := range named {
		target, err := delete.TargetOf(&f.removal.options.Access, n.What, n.Name, f.removal.namespace, f.removal.hub)
		if err != nil {
			return err
		}
		if !slices.Contains(o.Targets, target) {
			o.Targets = append(o.Targets, target)
		}
	}
	return delete.Run(ctx, a.RunEngine(&f.removal.run), o)
}

// deleteLong is the help of delete.
const deleteLong = `Delete nodes, every node of a form, or every node of a hub together with the hub
record.

lynqctl uses the policies that it recorded, not the ones in your current forms.
It keeps objects with deletionPolicy Retain or RetainOnDelete, and marks them as
orphans. It releases objects that another tool has taken over.

delete doesn't read your rows. If a row is still active, the next apply creates
its node again.

If the node has a deletion hook in another namespace, pass its form with -f.`
