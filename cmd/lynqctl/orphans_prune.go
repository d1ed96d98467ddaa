package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/engine"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// pruneFlags are the flags of orphans prune.
type pruneFlags struct {
	orphanFlags
	prune engine.PruneOptions
	run   runFlags
}

func (a *app) orphansPruneCommand() *cobra.Command {
	f := pruneFlags{run: defaultRunFlags()}
	cmd := &cobra.Command{
		Use:   "prune [OBJECT...|--all]",
		Short: "Delete orphans that are no longer needed",
		Long: `Delete orphans: those that are named, as Kind[.group]/NAMESPACE/NAME, or with
--all those that the other flags leave. On a terminal they are shown and chosen;
elsewhere --yes has to be said.

An object is deleted only as it was seen, and while it is still marked as an
orphan. Volumes and their claims, namespaces and CustomResourceDefinitions hold
data, and stay unless --include-data is said; a namespace or kind with objects
that are not orphans stays in any case. --backup-dir writes the manifests first.

Exit codes: 0 done; 1 something could not be deleted, or was named and left
alone, the rest was done; 2 bad usage, nothing was touched; 3 not confirmed, or
all that was named is left alone, nothing was touched; 130 interrupted.`,
		Example: `  # Choose among the orphans of all namespaces
  lynqctl orphans prune -A

  # What a hub left over a month ago goes, but for data; manifests are kept
  lynqctl orphans prune -A --hub crm --all --older-than 30d --backup-dir old -y

  # One object
  lynqctl orphans prune Deployment.apps/shop/acme-worker`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.orphansPrune(cmd.Context(), &f, args) },
	}
	flags := cmd.Flags()
	f.register(flags)
	flags.BoolVar(&f.prune.All, "all", false, "all orphans that the other flags leave")
	flags.BoolVar(&f.prune.IncludeData, "include-data", false, "also volumes and their claims, namespaces and CustomResourceDefinitions")
	flags.StringVar(&f.prune.BackupDir, "backup-dir", "", "write the manifests of what goes to this directory first; it holds Secrets then")
	flags.BoolVarP(&f.prune.Yes, "yes", "y", false, "do not ask")
	f.run.registerOutput(flags)
	return cmd
}

func (a *app) orphansPrune(ctx context.Context, f *pruneFlags, args []string) error {
	if err := f.check(time.Now()); err != nil {
		return err
	}
	if err := f.run.checkRun(); err != nil {
		return err
	}
	named, err := namedOrphans(args, f.prune.All)
	if err != nil {
		return err
	}
	o := f.prune
	o.Choose = func(orphans []orphan.Orphan, question string) ([]int, error) {
		return ui.Choose(a.stdin, a.errOut(), ui.OrphanList(orphans, time.Now()), question)
	}
	o.Show = func(orphans []orphan.Orphan) error {
		return ui.PrintList(ui.OrphanList(orphans, time.Now()), ui.Table, a.errOut(), a.errOut())
	}
	o.RunOptions, o.Access, o.Timeout, o.Query, o.Named = f.run.RunOptions, f.Access, f.Timeout, f.Query, named
	o.Concurrency = f.Query.AtOnce
	return a.engine(f.run.output).Prune(ctx, &o)
}
