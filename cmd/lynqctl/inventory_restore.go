package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/engine"
)

// restoreFlags are the flags of inventory restore.
type restoreFlags struct {
	inventoryFlags
	run        runFlags
	everything bool
}

func (a *app) inventoryRestoreCommand() *cobra.Command {
	f := restoreFlags{run: defaultRunFlags()}
	cmd := &cobra.Command{
		Use:   "restore NODE...|--all",
		Short: "Restore inventories that were deleted by hand",
		Long: `Restore the inventories of nodes that are named, or with --all every one that
needs it: those that were deleted with kubectl and that the finalizer still
holds, those that are gone and whose objects are still there, and those whose
objects lost their owner reference. What was recorded is recorded again, and the
objects stay the same ones: nothing of them changes but the owner reference, and
nothing is deleted, so that nothing is asked.

An inventory stays as long as lynqctl can't see one of its objects, or the last
apply excluded one that belongs to it: the garbage collector might delete such
an object with the old inventory. restore says why, and exits with 1.

Rows and forms are not read. A node whose row is inactive or gone goes with the
next apply, and its guards count it. An inventory that is gone is made of what
its objects say; inventory rebuild -f also asks rows and forms.

Exit codes: 0 done, or nothing to do; 1 not all could be restored, the rest was
done; 2 bad usage, or no such node, nothing was touched; 3 another run has the
hub, nothing was touched; 130 interrupted: run it again.`,
		Example: `  # What a mistake in kubectl delete would have deleted, in all namespaces
  lynqctl inventory restore --all -A --dry-run=client
  lynqctl inventory restore --all -A

  # One node
  lynqctl inventory restore acme-web -n shop`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.inventoryRestore(cmd.Context(), &f, args) },
	}
	flags := cmd.Flags()
	f.register(flags)
	flags.BoolVarP(&f.all, "all-namespaces", "A", false, "nodes of all namespaces")
	flags.BoolVar(&f.everything, "all", false, "every inventory that needs it")
	flags.StringSliceVar(&f.Hubs, "hub", nil, "only nodes of these hubs, as NAME or NAMESPACE/NAME")
	flags.StringVar(&f.run.dryRun, "dry-run", f.run.dryRun, "none, client or server; these two show the inventories and write nothing")
	flags.DurationVar(&f.run.LockTimeout, "lock-timeout", f.run.LockTimeout, "how long to wait for another run on the same hub")
	return cmd
}

func (a *app) inventoryRestore(ctx context.Context, f *restoreFlags, args []string) error {
	nodes, err := nodeNames(args)
	switch {
	case err != nil:
		return engine.BadUsage(err)
	case len(nodes) == 0 && !f.everything:
		return engine.BadUsage(errors.New("restore what? name nodes, as lynqctl inventory list does, or say --all"))
	case len(nodes) > 0 && f.everything:
		return engine.BadUsage(errors.New("--all and names exclude each other"))
	}
	if err := f.run.checkRun(); err != nil {
		return err
	}
	if f.all && f.Namespace != "" {
		return engine.BadUsage(errors.New("-A and -n exclude each other"))
	}
	if err := f.check(); err != nil {
		return err
	}
	f.Nodes = nodes
	return a.engine("").Restore(ctx, &engine.RestoreOptions{
		RunOptions: f.run.RunOptions, InventoryOptions: f.InventoryOptions,
		Show: func(found []plan.Restoration) error { return f.printList(a, ui.RestorationList(found)) },
	})
}
