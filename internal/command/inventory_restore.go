package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/usecase/inventorycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

// restoreFlags are the flags of inventory restore.
type restoreFlags struct {
	inventoryFlags
	run        cmdflags.Run
	everything bool
}

func inventoryRestoreCommand(a *app) *cobra.Command {
	f := restoreFlags{run: cmdflags.NewRun()}
	cmd := &cobra.Command{
		Use:   "restore NODE...|--all",
		Short: "Restore deleted inventories",
		Long: `Restore inventories that someone deleted, and owner references that objects
lost. Name the nodes, or pass --all. restore deletes nothing, so it doesn't ask.
If it must leave an inventory alone, it prints the reason.

restore doesn't read rows or forms. If a row is inactive or gone, the next apply
deletes its node, within the limits of the guards.

Exit codes:
  0    success, or nothing to do
  1    some inventories were not restored; the others were
  2    invalid usage, or no such node; nothing changed
  3    another run is using the hub; nothing changed
  130  interrupted; run the command again to continue`,
		Example: `  # Undo an accidental kubectl delete, in all namespaces
  lynqctl inventory restore --all -A --dry-run=client
  lynqctl inventory restore --all -A

  # One node
  lynqctl inventory restore acme-web -n shop`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.inventoryRestore(cmd.Context(), &f, args) },
	}
	flags := cmd.Flags()
	f.register(flags)
	flags.BoolVarP(&f.all, "all-namespaces", "A", false, "search all namespaces")
	flags.BoolVar(&f.everything, "all", false, "restore every inventory that needs it")
	flags.StringSliceVar(&f.options.Hubs, "hub", nil, "limit to these hubs (NAME or NAMESPACE/NAME)")
	flags.StringVar(&f.run.DryRun, "dry-run", f.run.DryRun, "none, client, or server (the last two show the inventories and write nothing)")
	flags.Lookup("dry-run").NoOptDefVal = string(session.ModeClient)
	flags.DurationVar(&f.run.LockTimeout, "lock-timeout", f.run.LockTimeout, "how long to wait for another run on the same hub")
	return cmd
}

func (a *app) inventoryRestore(ctx context.Context, f *restoreFlags, args []string) error {
	nodes, err := cmdflags.NodeNames(args)
	switch {
	case err != nil:
		return session.BadUsage(err)
	case len(nodes) == 0 && !f.everything:
		return session.BadUsage(errors.New("specify which nodes to restore, or pass --all. List them with 'lynqctl inventory list'"))
	case len(nodes) > 0 && f.everything:
		return session.BadUsage(errors.New("--all and names exclude each other"))
	}
	if err := f.run.Check(); err != nil {
		return err
	}
	if f.all && f.options.Namespace != "" {
		return session.BadUsage(errors.New("-A and -n exclude each other"))
	}
	if err := f.check(); err != nil {
		return err
	}
	f.options.Nodes = nodes
	return inventorycmd.Restore(ctx, a.Engine(""), &inventorycmd.RestoreOptions{
		RunOptions: f.run.RunOptions, InventoryOptions: f.options,
		Show: func(found []plan.Restoration, complete bool) error {
			return a.printList(&f.print, ui.RestorationList(found, complete))
		},
	})
}
