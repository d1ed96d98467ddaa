package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/engine"
)

func (a *app) inventoryVerifyCommand() *cobra.Command {
	var f inventoryFlags
	recordedOnly := false
	cmd := &cobra.Command{
		Use:   "verify [NODE...]",
		Short: "Compare inventories with the cluster",
		Long: `Compare what is recorded of nodes with what is in the cluster, and list what is
not as recorded, with what to do about it. Nothing is changed.

To find objects that have the tracking of a node and no entry in an inventory,
every kind that the server has is listed once. --recorded-only leaves that out.

Exit codes: 0 all is as recorded; 1 something is not, or not all could be looked
at; 2 bad usage, or a cluster that cannot be read.`,
		Example: `  # All nodes of the context's namespace
  lynqctl inventory verify

  # Two nodes, whatever their hub
  lynqctl inventory verify acme-web bolt-web -n shop

  # In a job: all nodes of a hub, for a script
  lynqctl inventory verify -A --hub crm -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Nodes = append(f.Nodes, args...)
			return a.inventoryVerify(cmd.Context(), &f, recordedOnly)
		},
	}
	f.register(cmd.Flags())
	f.registerChoice(cmd.Flags())
	cmd.Flags().BoolVar(&recordedOnly, "recorded-only", false, "look only at what is recorded")
	return cmd
}

func (a *app) inventoryVerify(ctx context.Context, f *inventoryFlags, recordedOnly bool) error {
	if err := f.check(); err != nil {
		return err
	}
	v, err := a.engine("").Verify(ctx, &engine.VerifyOptions{InventoryOptions: f.InventoryOptions, RecordedOnly: recordedOnly})
	if err != nil {
		return err
	}
	return a.showVerification(v, f)
}

// showVerification shows what was found.
func (a *app) showVerification(v *engine.Verification, f *inventoryFlags) error {
	shown := ui.Verification(*v)
	l := shown.List(f.Where())
	if err := f.printList(a, l); err != nil {
		return err
	}
	if len(l.Items) > 0 || !ui.TellsEmpty(ui.Format(f.output)) {
		_, _ = fmt.Fprintln(a.noteOut(), l.Empty)
	}
	return v.Ended()
}
