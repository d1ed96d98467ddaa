package command

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/usecase/inventorycmd"
)

func inventoryListCommand(a *app) *cobra.Command {
	var f inventoryFlags
	var failed bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List nodes and their last recorded state",
		Long: `List every node that has an inventory, with the state that the last run
recorded. To check live objects, run 'lynqctl status'.`,
		Example: `  # List all nodes of a hub
  lynqctl inventory list -A --hub crm

  # List nodes that aren't ready
  lynqctl inventory list -A --failed`,
		Args: cmdflags.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.inventoryList(cmd.Context(), &f, failed) },
	}
	f.register(cmd.Flags())
	f.registerChoice(cmd.Flags())
	f.registerSelector(cmd.Flags())
	cmd.Flags().BoolVar(&failed, "failed", false, "show only nodes that aren't ready")
	return cmd
}

func (a *app) inventoryList(ctx context.Context, f *inventoryFlags, failed bool) error {
	if err := f.check(); err != nil {
		return err
	}
	r, err := inventorycmd.List(ctx, a.Engine(""), &f.options)
	if err != nil {
		return err
	}
	l := f.view(failed).Inventories(r.Chosen, slices.Concat(r.Warnings(), r.Ignored), time.Now())
	if err := a.printList(&f.print, l); err != nil {
		return err
	}
	return r.Incomplete()
}
