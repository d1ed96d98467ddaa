package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/pkg/engine"
)

// finalizeFlags are the flags of finalize.
type finalizeFlags struct {
	removalFlags
	everywhere bool
	nodes      []string
	force      bool
}

func (a *app) finalizeCommand() *cobra.Command {
	f := finalizeFlags{removalFlags: removalFlags{run: defaultRunFlags()}}
	cmd := &cobra.Command{
		Use:   "finalize [--force OBJECT...]",
		Short: "Complete what was deleted with other tools",
		Long: `Complete the deletion of inventories and hub records that were deleted with
kubectl, or that hang with their namespace: the objects of their nodes go as
their deletionPolicy says, and then the finalizer that holds the inventory. A
hub record goes after all of the hub's nodes.

Without -f, lynqctl runs a recorded resource with runOn: Delete only in the
namespace of the node's inventory. With -f, it runs what the node's form
declares, in any namespace.

A cleanup that fails keeps its finalizer and says why. --force gives up on the
objects that are named, as Kind[.group]/NAMESPACE/NAME: they are marked as
orphans where that can be done, and what is left behind is listed.

Exit codes: 0 done, or nothing to do; 1 something failed, the rest was done; 2
bad usage, nothing was touched; 3 not confirmed, or refused by a guard, nothing
was touched; 130 interrupted, and the inventories are correct.`,
		Example: `  # A namespace hangs in Terminating
  lynqctl finalize -n shop

  # What would be done for a hub, in all namespaces
  lynqctl finalize -A --hub crm --dry-run=client

  # The controller of a custom resource is gone for good, and it cannot go
  lynqctl finalize -n shop --force Database.example.com/shop/acme`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 && !f.force {
				return fmt.Errorf("finalize takes objects only with --force, got %q", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.finalize(cmd.Context(), &f, args) },
	}
	flags := cmd.Flags()
	f.register(flags)
	flags.Lookup("namespace").Usage = "inventories and hub records in this namespace"
	flags.BoolVarP(&f.everywhere, "all-namespaces", "A", false, "inventories and hub records in all namespaces")
	flags.StringVar(&f.hub, "hub", "", "only inventories and the hub record of this hub, as NAME or NAMESPACE/NAME")
	flags.StringSliceVar(&f.nodes, "node", nil, "only these nodes")
	flags.BoolVar(&f.force, "force", false, "give up on the named objects")
	return cmd
}

func (a *app) finalize(ctx context.Context, f *finalizeFlags, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.force && len(args) == 0 {
		return engine.BadUsage(errors.New("--force gives up on objects: name them, as Kind[.group]/NAMESPACE/NAME"))
	}
	giveUp, err := parseRefs(args)
	if err != nil {
		return err
	}
	namespace, err := engine.OneOrAll(&f.Access, f.namespace, f.everywhere)
	if err != nil {
		return err
	}
	return a.engine(f.run.output).Finalize(ctx, &engine.FinalizeOptions{
		RemoveOptions: f.RemoveOptions, Namespace: namespace, Hub: f.hub, Nodes: f.nodes, GiveUp: giveUp,
	})
}
