package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/usecase/delete"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
)

// finalizeFlags are the flags of finalize.
type finalizeFlags struct {
	removal    removalFlags
	everywhere bool
	nodes      []string
	force      bool
}

func finalizeCommand(a *app) *cobra.Command {
	f := finalizeFlags{removal: removalFlags{run: cmdflags.NewRun()}}
	cmd := &cobra.Command{
		Use:   "finalize [--force OBJECT...]",
		Short: "Finish deletions that were started with kubectl",
		Long: `Finish the deletion of inventories and hub records that someone deleted with
kubectl, or that block a terminating namespace.

WARNING: finalize deletes the objects of these nodes as their deletionPolicy
says. Then it removes the inventory, and the hub record after all nodes of the
hub. To keep a node instead, run 'lynqctl inventory restore NODE'.

If the node has a deletion hook in another namespace, pass its form with -f.

If lynqctl can't clean up an object, the inventory keeps its finalizer, and
finalize prints the reason. --force gives up on the objects that you name as
Kind[.group]/NAMESPACE/NAME. lynqctl marks them as orphans if it can, and lists
everything that it leaves behind.

Exit codes:
  0    success, or nothing to do
  1    something failed; the rest was deleted
  2    invalid usage; nothing changed
  3    not confirmed, or refused by a guard; nothing changed
  130  interrupted; run the command again to continue`,
		Example: `  # Unblock a namespace that is stuck in Terminating
  lynqctl finalize -n shop

  # Preview for one hub, in all namespaces
  lynqctl finalize -A --hub crm --dry-run=client

  # Give up on a custom resource whose controller no longer exists
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
	f.removal.register(flags)
	flags.Lookup("namespace").Usage = "namespace (default: from the kubeconfig context)"
	flags.BoolVarP(&f.everywhere, "all-namespaces", "A", false, "search all namespaces")
	flags.StringVar(&f.removal.hub, "hub", "", "limit to this hub and its record (NAME or NAMESPACE/NAME)")
	flags.StringSliceVar(&f.nodes, "node", nil, "limit to these nodes (as shown by 'lynqctl status')")
	flags.BoolVar(&f.force, "force", false, "stop waiting for the named objects, and leave them behind")
	return cmd
}

func (a *app) finalize(ctx context.Context, f *finalizeFlags, args []string) error {
	if err := f.removal.check(); err != nil {
		return err
	}
	if f.force && len(args) == 0 {
		return session.BadUsage(errors.New("--force gives up on objects: name them, as Kind[.group]/NAMESPACE/NAME"))
	}
	giveUp, err := parseRefs(args)
	if err != nil {
		return err
	}
	namespace, err := session.OneOrAll(&f.removal.options.Access, f.removal.namespace, f.everywhere)
	if err != nil {
		return err
	}
	return delete.Finalize(ctx, a.RunEngine(&f.removal.run), &delete.FinalizeOptions{
		RemoveOptions: f.removal.options, Namespace: namespace, Hub: f.removal.hub, Nodes: f.nodes, GiveUp: giveUp,
	})
}
