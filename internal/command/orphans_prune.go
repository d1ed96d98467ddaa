package command

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/orphans"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// pruneFlags are the flags of orphans prune.
type pruneFlags struct {
	orphanFlags
	prune orphans.PruneOptions
	run   cmdflags.Run
	plan  cmdflags.Plan
}

func orphansPruneCommand(a *app) *cobra.Command {
	f := pruneFlags{run: cmdflags.NewRun()}
	cmd := &cobra.Command{
		Use:   "prune [OBJECT...|--all]",
		Short: "Delete retained objects",
		Long: `Delete orphans. Name them as Kind[.group]/NAMESPACE/NAME, or pass --all to
delete every orphan that matches the other flags. In a terminal, you choose from
a list. Elsewhere, pass --yes.

If an object changed after it was listed, lynqctl checks it again, and deletes
it only if it is still an orphan. It keeps volumes, their claims, Namespaces,
and CustomResourceDefinitions unless you pass --include-data. It always keeps a
Namespace or a kind with objects that aren't orphans. --backup-dir saves the
manifests first, but not the data on volumes.

Exit codes:
  0    success
  1    an orphan failed, or you named it and it was kept
  2    invalid usage; nothing changed
  3    not confirmed, or every named orphan was kept; nothing changed
  130  interrupted`,
		Example: `  # Choose from the orphans of all namespaces
  lynqctl orphans prune -A

  # Delete a hub's orphans after 30 days, keep data, and save the manifests
  lynqctl orphans prune -A --hub crm --all --older-than 30d --backup-dir old -y

  # One object
  lynqctl orphans prune Deployment.apps/shop/acme-worker`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.orphansPrune(cmd.Context(), &f, args) },
	}
	flags := cmd.Flags()
	f.register(flags)
	flags.BoolVar(&f.prune.All, "all", false, "delete every orphan that matches the other flags")
	flags.BoolVar(&f.prune.IncludeData, "include-data", false, "also delete volumes, their claims, Namespaces, and CustomResourceDefinitions")
	flags.StringVar(&f.prune.BackupDir, "backup-dir", "", "back up manifests to this directory before deleting (includes Secrets)")
	flags.BoolVarP(&f.prune.Yes, "yes", "y", false, "don't ask for confirmation")
	f.run.RegisterOutput(flags)
	f.run.RegisterExpand(flags)
	f.plan.Register(flags, "orphans prune")
	return cmd
}

func (a *app) orphansPrune(ctx context.Context, f *pruneFlags, args []string) error {
	if err := f.check(time.Now()); err != nil {
		return err
	}
	if err := f.run.Check(); err != nil {
		return err
	}
	named, err := namedOrphans(args, f.prune.All)
	if err != nil {
		return err
	}
	o := f.prune
	o.Choose = func(orphans []orphan.Orphan, question string) ([]int, error) {
		return ui.Choose(a.World.Stdin, a.ErrOut(), ui.OrphanList(orphans, time.Now()), question)
	}
	o.Show = func(orphans []orphan.Orphan) error {
		return list.Print(ui.OrphanList(orphans, time.Now()), tty.Table, a.ErrOut(), a.ErrOut())
	}
	o.RunOptions, o.Access, o.Timeout, o.Query, o.Named = f.run.RunOptions, f.list.Access, f.list.Timeout, f.list.Query, named
	o.Concurrency = f.list.Query.AtOnce
	if err := f.plan.Apply(&o.RunOptions); err != nil {
		return err
	}
	return orphans.Prune(ctx, a.RunEngine(&f.run), &o)
}
