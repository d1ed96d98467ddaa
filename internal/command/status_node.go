package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/internal/usecase/statuscmd"
)

func statusNodeCommand(a *app) *cobra.Command {
	var f inventoryFlags
	var watch bool
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
			if watch {
				return a.watchNodes(cmd.Context(), &f)
			}
			return a.statusNodes(cmd.Context(), &f)
		},
	}
	f.register(cmd.Flags())
	cmdflags.RegisterKeptTo(cmd.Flags(), &f.options.Access)
	f.registerIgnore(cmd.Flags())
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "keep watching for changes, until interrupted or --timeout")
	return cmd
}

// statusNodes shows the nodes that the flags name. If a name is unknown, it still shows the
// others.
func (a *app) statusNodes(ctx context.Context, f *inventoryFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	nodes, notFound := statuscmd.Nodes(ctx, a.Engine(""), &f.options)
	for _, s := range nodes {
		list.Warn(a.NoteOut(), s.Warnings)
	}
	if err := f.printDetails(a, a.details(nodes)); err != nil || notFound != nil {
		return cmp.Or(err, notFound)
	}
	return statuscmd.NotReady(nodes)
}

func (a *app) details(nodes []*statuscmd.NodeStatus) []*list.Details {
	all := make([]*list.Details, len(nodes))
	for i, s := range nodes {
		n := ui.NodeNow(*s)
		all[i] = n.Details(a.Now())
	}
	return all
}

// watchNodes shows the nodes that the flags name again and again. A terminal gets them in
// place, and other outputs get each state that differs from the last one.
func (a *app) watchNodes(ctx context.Context, f *inventoryFlags) error {
	if err := errors.Join(f.check(), f.print.CheckWatch()); err != nil {
		return err
	}
	out, format := a.Out(), tty.Format(f.print.Output)
	if out.Terminal && (format == tty.Table || format == tty.Wide) {
		screen := ui.NewScreen(out)
		return statuscmd.FollowNodes(ctx, a.Engine(""), &f.options, func(nodes []*statuscmd.NodeStatus) error {
			screen.ShowDetails(a.details(nodes), format == tty.Wide)
			return nil
		})
	}
	var last []byte
	feed := &list.Feed{Out: out, Format: format}
	return statuscmd.FollowNodes(ctx, a.Engine(""), &f.options, func(nodes []*statuscmd.NodeStatus) error {
		all := a.details(nodes)
		data := make([]list.Item, len(all))
		for i, d := range all {
			data[i] = list.Item{Name: nodes[i].Name, Data: d.Data}
		}
		state, err := json.Marshal(data)
		if err != nil || bytes.Equal(state, last) {
			return session.Fail(err)
		}
		last = state
		if format == tty.JSON || format == tty.Name {
			return feed.Add(data...)
		}
		return session.Fail(list.PrintAllDetails(all, format, out))
	})
}
