package command

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/usecase/inventorycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
)

func inventoryShowCommand(a *app) *cobra.Command {
	var f inventoryFlags
	cmd := &cobra.Command{
		Use:   "show NODE...|node/NODE...",
		Short: "Show the inventory of one or more nodes",
		Long: `Show the inventory of one or more nodes, with the state that the last run
recorded. The objects are in apply order. To check live objects, run 'lynqctl
status node'.`,
		Example: `  lynqctl inventory show acme-web
  lynqctl inventory show node/acme-web node/bolt-web -n shop -o yaml`,
		Args: cmdflags.SomeNodes("inventory show", "lynqctl inventory list"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if f.options.Nodes, err = cmdflags.NodeNames(args); err != nil {
				return session.BadUsage(err)
			}
			return a.inventoryShow(cmd.Context(), &f)
		},
	}
	f.register(cmd.Flags())
	f.registerIgnore(cmd.Flags())
	return cmd
}

// inventoryShow shows the inventories of the nodes that the flags name. If a name is
// unknown, it still shows the others.
func (a *app) inventoryShow(ctx context.Context, f *inventoryFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	inventories, notFound := inventorycmd.Show(ctx, a.Engine(""), &f.options)
	var all []*list.Details
	for _, inv := range inventories {
		all = append(all, ui.InventoryDetails(inv, time.Now()))
	}
	return cmp.Or(f.printDetails(a, all), notFound)
}
