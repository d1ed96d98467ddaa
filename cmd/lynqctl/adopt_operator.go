package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// handoverFlags are the flags of adopt-operator.
type handoverFlags struct {
	clusterFlags
	deadlineFlag
	runFlags
	everywhere        bool
	hubs, forms       []string
	operatorNamespace string
	exportDir         string
	backupDir         string
	removeForms       bool
	noFinalizer       bool
	yes               bool
}

func (a *app) adoptOperatorCommand() *cobra.Command {
	f := handoverFlags{runFlags: defaultRunFlags()}
	f.events = false
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
	f.registerAll(cmd)
	f.registerOutput(cmd)
	f.registerDeadline(cmd)
	flags := cmd.Flags()
	flags.Lookup("namespace").Usage = "namespace of the LynqNodes (default: the context's)"
	flags.BoolVarP(&f.everywhere, "all-namespaces", "A", false, "LynqNodes of all namespaces")
	flags.StringSliceVar(&f.hubs, "hub", nil, "only LynqNodes of these hubs, as NAME or NAMESPACE/NAME")
	flags.StringSliceVar(&f.forms, "form", nil, "only LynqNodes of these forms, as NAME or NAMESPACE/NAME")
	flags.StringVar(&f.operatorNamespace, "operator-namespace", "", "where to look whether the operator runs (default: everywhere)")
	flags.StringVar(&f.exportDir, "export-dir", "", "write the LynqHubs and LynqForms to this directory, also in a dry run")
	flags.StringVar(&f.backupDir, "backup-dir", "", "write the LynqNodes, and the metadata of what is taken over, to this directory first")
	flags.BoolVar(&f.removeForms, "remove-forms", false, "then delete the LynqHubs and LynqForms of hubs that have no LynqNode left; needs --export-dir")
	flags.BoolVar(&f.noFinalizer, "no-finalizer", false, "make inventories without the finalizer that lets a deletion by hand be cleaned up")
	flags.DurationVar(&f.lockTimeout, "lock-timeout", f.lockTimeout, "how long to wait for another run on the same hub")
	flags.IntVar(&f.writers, "concurrency", f.writers, "nodes to hand over at once")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	return cmd
}

// check checks the flags, and finds out which namespace is meant; "" is all.
func (f *handoverFlags) check(nodes []string) (namespace string, err error) {
	if err := errors.Join(f.checkRun(), f.checkDeadline()); err != nil {
		return "", err
	}
	switch {
	case f.everywhere && f.namespace != "":
		return "", badUsage(errors.New("-A and -n exclude each other"))
	case f.namespace != "" && !lynq.IsDNS1123Label(f.namespace):
		return "", badUsage(fmt.Errorf("-n: namespace %q is none that Kubernetes accepts (lower case letters, digits and dashes, at most 63)", f.namespace))
	case f.removeForms && f.exportDir == "":
		return "", badUsage(errors.New("--remove-forms needs --export-dir: without a copy, the hubs and forms would be gone"))
	case f.removeForms && (len(nodes) > 0 || len(f.forms) > 0):
		return "", badUsage(errors.New("--remove-forms is about whole hubs: leave out the nodes and --form"))
	case f.everywhere:
		return "", nil
	case f.namespace != "":
		return f.namespace, nil
	}
	ns, err := f.access.Namespace()
	if err != nil {
		return "", badUsage(err)
	}
	return cmp.Or(ns, "default"), nil
}

func (a *app) adoptOperator(ctx context.Context, f *handoverFlags, nodes []string) error {
	namespace, err := f.check(nodes)
	if err != nil {
		return err
	}
	if f.dryRun == "none" {
		if err := a.mayGoOn(f.yes); err != nil {
			return err
		}
	}
	ctx, cancel := f.deadline(ctx)
	defer cancel()
	client, warnings, err := a.connect(&f.access)
	if err != nil {
		return err
	}
	j := handoverJob{clusterRun: a.newClusterRun(&f.runFlags, client, warnings), flags: f, namespace: namespace, named: nodes}
	return j.perform(ctx)
}
