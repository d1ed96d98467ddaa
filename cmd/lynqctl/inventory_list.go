package main

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
)

func (a *app) inventoryListCommand() *cobra.Command {
	var f inventoryFlags
	var failed bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List nodes and how they are",
		Long: `List the nodes that have an inventory, and how the last run left them.

What is shown is what was recorded: no object is looked at.`,
		Example: `  # All nodes of a hub
  lynqctl inventory list -A --hub crm

  # Nodes that are not Ready
  lynqctl inventory list -A --failed`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.inventoryList(cmd.Context(), &f, failed) },
	}
	f.register(cmd.Flags())
	f.registerChoice(cmd.Flags())
	f.registerSelector(cmd.Flags())
	cmd.Flags().BoolVar(&failed, "failed", false, "only nodes that are not Ready")
	return cmd
}

func (a *app) inventoryList(ctx context.Context, f *inventoryFlags, failed bool) error {
	if err := f.check(); err != nil {
		return err
	}
	r, err := a.engine("").Inventories(ctx, &f.InventoryOptions)
	if err != nil {
		return err
	}
	l := f.view(failed).Inventories(r.Chosen, slices.Concat(r.Warnings(), r.Ignored), time.Now())
	if err := f.printList(a, l); err != nil {
		return err
	}
	return r.Incomplete()
}
