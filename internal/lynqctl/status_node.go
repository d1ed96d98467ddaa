package lynqctl

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/lynqctl/cmdflags"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/views"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/internal/usecase/status"
)

func statusNodeCommand(a *app) *cobra.Command {
	var f inventoryFlags
	cmd := &cobra.Command{
		Use:        "node NAME...",
		SuggestFor: []string{"describe", "inspect"},
		Short:      "Show one or more nodes in detail",
		Long: `Show nodes in detail, with the result of the last run, the current state of each
object and its pods, orphans, and recent events. The objects are in apply order.
lynqctl doesn't read the contents of Secrets and ConfigMaps.

Exit codes:
  0    ready: the last run succeeded, and the objects are ready now
  1    a node is not ready
  2    invalid usage, no such node, or the cluster can't be read`,
		Example: `  lynqctl status node acme-web
  lynqctl status node acme-web bolt-web -n shop -o json`,
		Args: cmdflags.SomeNodes("status node", "lynqctl status"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if f.options.Nodes, err = cmdflags.NodeNames(args); err != nil {
				return session.BadUsage(err)
			}
			return a.statusNodes(cmd.Context(), &f)
		},
	}
	f.register(cmd.Flags())
	f.registerIgnore(cmd.Flags())
	return cmd
}

// statusNodes shows the nodes that the flags name. If a name is unknown, it still shows the
// others.
func (a *app) statusNodes(ctx context.Context, f *inventoryFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	nodes, notFound := status.Nodes(ctx, a.Engine(""), &f.options)
	var all []*list.Details
	for _, s := range nodes {
		n := views.NodeNow(*s)
		list.Warn(a.NoteOut(), s.Warnings)
		all = append(all, n.Details(a.Now()))
	}
	if err := f.printDetails(a, all); err != nil || notFound != nil {
		return cmp.Or(err, notFound)
	}
	return status.NotReady(nodes)
}
