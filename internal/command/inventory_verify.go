package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/inventorycmd"
)

func inventoryVerifyCommand(a *app) *cobra.Command {
	var f inventoryFlags
	recordedOnly := false
	cmd := &cobra.Command{
		Use:   "verify [NODE...]",
		Short: "Compare inventories with the cluster",
		Long: `Compare inventories with live objects. verify lists each difference and how to
fix it. It changes nothing.

To find objects that no inventory lists, verify lists every kind on the server
once. To skip that, pass --recorded-only.

Exit codes:
  0    no differences
  1    differences, or verify couldn't check everything
  2    invalid usage, or the cluster can't be read`,
		Example: `  # Check all nodes of the context's namespace
  lynqctl inventory verify

  # Check all nodes of a hub, for a script
  lynqctl inventory verify -A --hub crm -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.options.Nodes = append(f.options.Nodes, args...)
			return a.inventoryVerify(cmd.Context(), &f, recordedOnly)
		},
	}
	f.register(cmd.Flags())
	f.registerChoice(cmd.Flags())
	cmd.Flags().BoolVar(&recordedOnly, "recorded-only", false, "check only the objects that inventories list")
	return cmd
}

func (a *app) inventoryVerify(ctx context.Context, f *inventoryFlags, recordedOnly bool) error {
	if err := f.check(); err != nil {
		return err
	}
	v, err := inventorycmd.Verify(ctx, a.Engine(""), &inventorycmd.VerifyOptions{InventoryOptions: f.options, RecordedOnly: recordedOnly})
	if err != nil {
		return err
	}
	return a.showVerification(v, f)
}

// showVerification shows the findings.
func (a *app) showVerification(v *inventorycmd.Verification, f *inventoryFlags) error {
	shown := ui.Verification(*v)
	l := shown.List(f.options.Where())
	if err := a.printList(&f.print, l); err != nil {
		return err
	}
	if len(l.Items) > 0 || !list.TellsEmpty(tty.Format(f.print.Output)) {
		_, _ = fmt.Fprintln(a.NoteOut(), l.Empty)
	}
	return v.Ended()
}
