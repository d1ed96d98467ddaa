package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/pkg/engine"
)

// handoverFlags are the flags of adopt-operator.
type handoverFlags struct {
	engine.HandoverOptions
	run        runFlags
	everywhere bool
}

func (a *app) adoptOperatorCommand() *cobra.Command {
	f := handoverFlags{run: defaultRunFlags()}
	f.run.Events = false
	cmd := &cobra.Command{
		Use:   "adopt-operator [NODE...]",
		Short: "Take live nodes over from the Lynq operator",
		Long: `Take nodes over from the Lynq operator, which has to be scaled to zero: each
LynqNode becomes an inventory of lynqctl, and its objects stay as they are. Only
their metadata changes: the LynqNode that owns them, the labels and annotations
by which they are tracked, and the field manager. No pod restarts.

The inventory is written first, then the objects, and the LynqNode is deleted
when nothing belongs to it any longer. What cannot be taken over keeps its
LynqNode, and is reported; the next run goes on from where one was interrupted.
--dry-run=client shows all that would be done, also while the operator runs.

--export-dir writes the LynqHubs and LynqForms to files for lynqctl apply. As
long as they are in the cluster the operator must not be started again: it would
create its LynqNodes again. --remove-forms deletes them, once all nodes of their
hub are handed over.

Exit codes: 0 done, or nothing to do; 1 something could not be handed over, the
rest was done; 2 bad usage, or a cluster that cannot be read, nothing was
touched; 3 refused by a guard, or not confirmed, nothing was touched; 130
interrupted.`,
		Example: `  # What would be done in the whole cluster
  lynqctl adopt-operator -A --dry-run=client

  # One node first, with a copy of what is changed
  lynqctl adopt-operator acme-web -n shop --backup-dir backup

  # All nodes of a hub, and then its LynqHub and LynqForms
  lynqctl adopt-operator -n shop --hub crm --export-dir forms --remove-forms`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.adoptOperator(cmd.Context(), &f, args) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.Namespace, "namespace", "n", "", "namespace of the LynqNodes (default: the context's)")
	f.Access.Register(flags)
	f.run.registerOutput(flags)
	registerTimeout(flags, &f.Timeout)
	flags.BoolVarP(&f.everywhere, "all-namespaces", "A", false, "LynqNodes of all namespaces")
	flags.StringSliceVar(&f.Hubs, "hub", nil, "only LynqNodes of these hubs, as NAME or NAMESPACE/NAME")
	flags.StringSliceVar(&f.Forms, "form", nil, "only LynqNodes of these forms, as NAME or NAMESPACE/NAME")
	flags.StringVar(&f.OperatorNamespace, "operator-namespace", "", "where to look whether the operator runs (default: everywhere)")
	flags.StringVar(&f.ExportDir, "export-dir", "", "write the LynqHubs and LynqForms to this directory, also in a dry run")
	flags.StringVar(&f.BackupDir, "backup-dir", "", "write the LynqNodes, and the metadata of what is taken over, to this directory first")
	flags.BoolVar(&f.RemoveForms, "remove-forms", false, "then delete the LynqHubs and LynqForms of hubs that have no LynqNode left; needs --export-dir")
	registerNoFinalizer(flags, &f.NoFinalizer)
	flags.DurationVar(&f.run.LockTimeout, "lock-timeout", f.run.LockTimeout, "how long to wait for another run on the same hub")
	flags.IntVar(&f.run.Concurrency, "concurrency", f.run.Concurrency, "nodes to hand over at once")
	flags.BoolVarP(&f.Yes, "yes", "y", false, "do not ask")
	return cmd
}

// check checks the flags, and finds out which namespace is meant.
func (f *handoverFlags) check() error {
	if err := errors.Join(f.run.checkRun(), checkTimeout(f.Timeout)); err != nil {
		return err
	}
	f.RunOptions = f.run.RunOptions
	switch {
	case f.RemoveForms && f.ExportDir == "":
		return engine.BadUsage(errors.New("--remove-forms needs --export-dir: without a copy, the hubs and forms would be gone"))
	case f.RemoveForms && (len(f.Nodes) > 0 || len(f.Forms) > 0):
		return engine.BadUsage(errors.New("--remove-forms is about whole hubs: leave out the nodes and --form"))
	}
	namespace, err := engine.OneOrAll(&f.Access, f.Namespace, f.everywhere)
	f.Namespace = namespace
	return err
}

func (a *app) adoptOperator(ctx context.Context, f *handoverFlags, nodes []string) error {
	f.Nodes = nodes
	if err := f.check(); err != nil {
		return err
	}
	return a.engine(f.run.output).Handover(ctx, &f.HandoverOptions)
}
