package main

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/engine"
)

func (a *app) statusNodeCommand() *cobra.Command {
	var f inventoryFlags
	cmd := &cobra.Command{
		Use:   "node NAME...",
		Short: "Show nodes with their objects as they are now",
		Long: `Show one node, or several: how the last run left it, its objects as they are
now, in the order in which they are applied, with what belongs to them, what the
node left behind, and recent events. What is in Secrets and ConfigMaps is not
read.

Exit codes: 0 the nodes are Ready: no run failed on them, and their objects are
ready now; 1 one is not; 2 bad usage, no such node, or a cluster that cannot be
read.`,
		Example: `  lynqctl status node acme-web
  lynqctl status node acme-web bolt-web -n shop -o json`,
		Args: someNodes("status node", "lynqctl status"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if f.Nodes, err = nodeNames(args); err != nil {
				return engine.BadUsage(err)
			}
			return a.statusNodes(cmd.Context(), &f)
		},
	}
	f.register(cmd.Flags())
	f.registerIgnore(cmd.Flags())
	return cmd
}

// statusNodes shows the nodes that the flags name. What there is of them is shown also
// where a name is unknown.
func (a *app) statusNodes(ctx context.Context, f *inventoryFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	nodes, notFound := a.engine("").StatusNodes(ctx, &f.InventoryOptions)
	var all []*ui.Details
	for _, s := range nodes {
		n := ui.NodeNow(*s)
		ui.Warn(a.noteOut(), s.Warnings)
		all = append(all, n.Details(time.Now()))
	}
	if err := f.printDetails(a, all); err != nil || notFound != nil {
		return cmp.Or(err, notFound)
	}
	return engine.NotReady(nodes)
}
