package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/engine"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// rebuildFlags are the flags of inventory rebuild.
type rebuildFlags struct {
	applyFlags
	everywhere bool
	yes        bool
}

func (a *app) inventoryRebuildCommand() *cobra.Command {
	f := rebuildFlags{applyFlags: defaultApplyFlags()}
	f.Wait = false
	cmd := &cobra.Command{
		Use:   "rebuild [NODE...]",
		Short: "Rebuild inventories that were lost",
		Long: `Rebuild the inventories of nodes from the labels, owner references and
annotations of objects that have the nodes' tracking and no entry in an
inventory. The new entries are shown first, and nothing is written that was not
confirmed.

With -f it is about the hubs there, and rows and forms say of which form and row
a node is, and what depends on what; what belonged to a lost inventory belongs
to the new one then. Without -f it is about all nodes of a namespace, and the
form is that of other nodes of the hub, or that of --form: enough to delete a
node with lynqctl delete.

An inventory that exists and lacks an entry is completed. Objects do not say all
that an entry does: all entries count as not confirmed, and the next apply looks
at each object once.

Exit codes: 0 done, or nothing to do; 1 not all could be rebuilt, the rest was
done; 2 bad usage or input, nothing was touched; 3 not confirmed, or another run
has the hub, nothing was touched; 130 interrupted.`,
		Example: `  # After an inventory was lost
  lynqctl inventory rebuild -f forms/

  # Of a row that is gone too, so that its node can be deleted
  lynqctl inventory rebuild acme-web -n shop --form web`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.inventoryRebuild(cmd.Context(), &f, args) },
	}
	flags := cmd.Flags()
	f.render.registerCluster(flags)
	f.run.registerRun(flags)
	flags.Lookup("output").Usage = "how the inventories are shown: table, wide, json, yaml or name"
	flags.Lookup("dry-run").Usage = "none, client or server; these two show the inventories and write nothing"
	flags.Lookup("namespace").Usage = "only nodes of this namespace (default: the context's; with -f, wherever the nodes are)"
	flags.Lookup("form").Usage = "with -f: only these forms; else: the form of nodes of which nothing else tells"
	flags.BoolVarP(&f.everywhere, "all-namespaces", "A", false, "nodes of all namespaces")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	registerNoFinalizer(flags, &f.NoFinalizer)
	return cmd
}

func (a *app) inventoryRebuild(ctx context.Context, f *rebuildFlags, nodes []string) error {
	namespace, err := f.scope()
	if err != nil {
		return err
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	progress := *a
	progress.stdout = ui.Output{} // the list of the inventories is all that it gets
	return a.engine(f.run.output).Rebuild(ctx, &engine.RebuildOptions{
		ApplyOptions: *o, Node: nodes, Where: namespace, Yes: f.yes,
		Show: func(rebuilt []orphan.Rebuilt) error {
			return engine.Fail(ui.PrintList(ui.RebuiltList(rebuilt), ui.Format(f.run.output), a.out(), a.noteOut()))
		},
		Progress: &console{&progress, ui.Table},
	})
}

// scope is the namespace of the nodes that are meant, "" for all: with inputs,
// wherever their nodes are.
func (f *rebuildFlags) scope() (string, error) {
	o := &f.render
	if len(o.Paths) == 0 && len(o.Forms) > 1 {
		return "", engine.BadUsage(errors.New("without -f, --form takes one form"))
	}
	return engine.OneOrAll(&o.Access, o.Namespace, f.everywhere || len(o.Paths) > 0 && o.Namespace == "")
}
