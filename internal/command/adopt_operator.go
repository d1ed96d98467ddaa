package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/usecase/adoptoperator"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
)

// handoverFlags are the flags of adopt-operator.
type handoverFlags struct {
	options    adoptoperator.Options
	run        cmdflags.Run
	everywhere bool
}

func adoptOperatorCommand(a *app) *cobra.Command {
	f := handoverFlags{run: cmdflags.NewRun()}
	f.run.Events = false
	cmd := &cobra.Command{
		Use:        "adopt-operator [NODE...]",
		SuggestFor: []string{"migrate", "import"},
		Short:      "Migrate live nodes from the Lynq operator",
		Long: `Migrate nodes from the Lynq operator to lynqctl without restarting pods. Scale
the operator to zero first. Each LynqNode becomes an inventory of lynqctl. Only
the metadata of its objects changes. If lynqctl can't migrate a node, it keeps
the LynqNode and reports the reason. You can run --dry-run=client while the
operator is running.

Don't start the operator again while the LynqHubs and LynqForms exist in the
cluster, because it would create its LynqNodes again. --remove-forms deletes
them.

Exit codes:
  0    success, or nothing to do
  1    some nodes were not migrated; the others were
  2    invalid usage, or the cluster has no Lynq operator or can't be read;
       nothing changed
  3    refused by a guard, or not confirmed; nothing changed
  130  interrupted; run the command again to continue`,
		Example: `  # Preview the migration of the whole cluster
  lynqctl adopt-operator -A --dry-run=client

  # Migrate one node first, and save what changes
  lynqctl adopt-operator acme-web -n shop --backup-dir backup

  # Migrate a hub, then delete its LynqHub and LynqForms
  lynqctl adopt-operator -n shop --hub crm --export-dir forms --remove-forms`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.adoptOperator(cmd.Context(), &f, args) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.options.Namespace, "namespace", "n", "", "namespace (default: from the kubeconfig context)")
	f.options.Access.Register(flags)
	f.run.RegisterOutput(flags)
	f.run.RegisterExpand(flags)
	cmdflags.RegisterTimeout(flags, &f.options.Timeout)
	flags.BoolVarP(&f.everywhere, "all-namespaces", "A", false, "search all namespaces")
	flags.StringSliceVar(&f.options.Hubs, "hub", nil, "limit to these hubs (NAME or NAMESPACE/NAME)")
	flags.StringSliceVar(&f.options.Forms, "form", nil, "limit to these forms (NAME or NAMESPACE/NAME)")
	flags.StringVar(&f.options.OperatorNamespace, "operator-namespace", "", "namespace where the operator must be stopped (default: all namespaces)")
	flags.StringVar(&f.options.ExportDir, "export-dir", "", "save the LynqHubs and LynqForms to this directory (also in a dry run)")
	flags.StringVar(&f.options.BackupDir, "backup-dir", "", "back up the LynqNodes and their objects' metadata to this directory")
	flags.BoolVar(&f.options.RemoveForms, "remove-forms", false, "delete the LynqHubs and LynqForms once all their nodes are migrated (requires --export-dir)")
	cmdflags.RegisterNoFinalizer(flags, &f.options.NoFinalizer)
	flags.DurationVar(&f.run.LockTimeout, "lock-timeout", f.run.LockTimeout, "how long to wait for another run on the same hub")
	flags.IntVar(&f.run.Concurrency, "concurrency", f.run.Concurrency, "number of nodes to process in parallel")
	flags.BoolVarP(&f.options.Yes, "yes", "y", false, "don't ask for confirmation")
	return cmd
}

// check checks the flags, and finds the namespace.
func (f *handoverFlags) check() error {
	if err := errors.Join(f.run.Check(), cmdflags.CheckTimeout(f.options.Timeout)); err != nil {
		return err
	}
	f.options.RunOptions = f.run.RunOptions
	switch {
	case f.options.RemoveForms && f.options.ExportDir == "":
		return session.BadUsage(errors.New("--remove-forms needs --export-dir: without a copy, the hubs and forms would be gone"))
	case f.options.RemoveForms && (len(f.options.Nodes) > 0 || len(f.options.Forms) > 0):
		return session.BadUsage(errors.New("--remove-forms is about whole hubs: leave out the nodes and --form"))
	}
	namespace, err := session.OneOrAll(&f.options.Access, f.options.Namespace, f.everywhere)
	f.options.Namespace = namespace
	return err
}

func (a *app) adoptOperator(ctx context.Context, f *handoverFlags, nodes []string) error {
	f.options.Nodes = nodes
	if err := f.check(); err != nil {
		return err
	}
	return adoptoperator.Run(ctx, a.RunEngine(&f.run), &f.options)
}
