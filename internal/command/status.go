package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/internal/usecase/statuscmd"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// statusFlags are the flags of status, and of status hub and form.
type statusFlags struct {
	inventoryFlags
	failed   bool
	watch    bool
	recorded bool
}

func (f *statusFlags) register(flags *pflag.FlagSet) {
	f.inventoryFlags.register(flags)
	cmdflags.RegisterKeptTo(flags, &f.options.Access)
	f.registerIgnore(flags)
	f.registerSelector(flags)
	flags.BoolVar(&f.failed, "failed", false, "show only nodes that aren't ready")
	flags.BoolVar(&f.recorded, "recorded", false, "show recorded state; don't check live objects")
	flags.BoolVarP(&f.watch, "watch", "w", false, "keep watching for changes, until interrupted or --timeout")
}

// statusCodes explains the exit codes in --help.
const statusCodes = `

Exit codes:
  0    all nodes are ready
  1    a node is missing or isn't ready, or lynqctl couldn't check everything
  2    invalid usage, or the cluster can't be read`

func statusCommand(a *app) *cobra.Command {
	var f statusFlags
	cmd := &cobra.Command{
		Use:        "status [[TYPE/]NAME...]",
		SuggestFor: []string{"get", "list", "ls", "ps", "top"},
		Short:      "Show the current state of nodes",
		Long: `Show the current state of every node, with totals for each hub and form. status
checks the live objects. It reports objects that are missing, not ready, or
changed by another client.

To see a node with its objects, run 'lynqctl status node NAME'. status also
takes NAME, node/NAME, hub/NAME, and form/NAME.` + statusCodes,
		Example: `  # Show the nodes of the context's namespace
  lynqctl status

  # Show nodes that need attention, in all namespaces
  lynqctl status -A --failed

  # Filter by labels of the inventories
  lynqctl status -A -l lynq.sh/template=web,tier=gold

  # In a job, exit with 1 if a node of the hub is not ready
  lynqctl status hub crm -A --failed

  # Show one node with its pods, orphans, and events
  lynqctl status node acme-web`,
		Args: f.checkNamed,
		RunE: func(cmd *cobra.Command, args []string) error { return a.statusNamed(cmd.Context(), &f, args) },
	}
	f.register(cmd.Flags())
	f.registerChoice(cmd.Flags())
	cmd.AddCommand(
		statusNodeCommand(a),
		statusOf(a, "hub", "Show the nodes of one or more hubs", func(f *statusFlags, names []string) { f.options.Hubs = names }),
		statusOf(a, "form", "Show the nodes of one or more forms", func(f *statusFlags, names []string) { f.options.Forms = names }),
	)
	return cmd
}

func statusTypes() []string { return []string{"node", "hub", "form"} }

// checkNamed checks the arguments of status, TYPE/NAME. It refuses flags for lists if the
// arguments name nodes.
func (f *statusFlags) checkNamed(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if command, near := suggest.Near(args[0], statusTypes()); near {
		return fmt.Errorf("unknown command %q (did you mean %q?; status node %s is one node)", "status "+args[0], command, args[0])
	}
	what, names, err := cmdflags.OneType(typed(args), statusTypes())
	if err != nil || what != "node" {
		return err
	}
	if _, err := cmdflags.NodeNames(names); err != nil {
		return err
	}
	node, _, _ := cmd.Find([]string{"node"})
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if node.Flag(flag.Name) == nil {
			err = fmt.Errorf("--%s is a flag for lists, and node/%s is one node", flag.Name, names[0])
		}
	})
	return err
}

// typed makes bare names those of nodes.
func typed(args []string) []string {
	all := slices.Clone(args)
	for i, name := range all {
		if !strings.Contains(name, "/") {
			all[i] = "node/" + name
		}
	}
	return all
}

// statusNamed shows what the arguments name, or all nodes without arguments.
func (a *app) statusNamed(ctx context.Context, f *statusFlags, args []string) error {
	if len(args) == 0 {
		return a.status(ctx, f)
	}
	what, names, err := cmdflags.OneType(typed(args), statusTypes())
	if err != nil {
		return session.BadUsage(err)
	}
	switch what {
	case "node":
		f.options.Nodes, f.all = names, false
		return a.statusNodes(ctx, &f.inventoryFlags)
	case "hub":
		f.options.Hubs = append(f.options.Hubs, names...)
	case "form":
		f.options.Forms = append(f.options.Forms, names...)
	}
	return a.status(ctx, f)
}

// statusOf returns status for the nodes of some hubs or forms.
func statusOf(a *app, what, short string, narrow func(f *statusFlags, names []string)) *cobra.Command {
	var f statusFlags
	cmd := &cobra.Command{
		Use:   what + " NAME...",
		Short: short,
		Long:  short + ", as 'lynqctl status --" + what + "' does." + statusCodes,
		Example: map[string]string{
			"hub": `  # In a job, exit with 1 if a node of the hub is not ready
  lynqctl status hub crm -A --failed`,
			"form": `  # Show the nodes of a form whose name several hubs use
  lynqctl status form web --hub crm -A`,
		}[what],
		Args: cmdflags.SomeNames("status "+what, what, "lynqctl status -A"),
		RunE: func(cmd *cobra.Command, args []string) error {
			narrow(&f, args)
			return a.status(cmd.Context(), &f)
		},
	}
	f.register(cmd.Flags())
	f.registerNamespaces(cmd.Flags())
	if what == "form" {
		cmd.Flags().StringSliceVar(&f.options.Hubs, "hub", nil, "hub of the form (NAME or NAMESPACE/NAME), if several hubs have a form with this name")
	}
	return cmd
}

// view returns the settings of the list.
func (f *statusFlags) view() *ui.NodeView {
	v := f.inventoryFlags.view(f.failed)
	v.Recorded = f.recorded
	return v
}

// check checks the flags.
func (f *statusFlags) check() error {
	if err := f.checkIn(session.NamespacesMeant); err != nil || !f.watch {
		return err
	}
	return f.print.CheckWatch()
}

func (a *app) status(ctx context.Context, f *statusFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	o := &statuscmd.Options{InventoryOptions: f.options, FailedOnly: f.failed, Recorded: f.recorded}
	if f.watch {
		return statuscmd.Follow(ctx, a.Engine(""), o, a.statusView(f))
	}
	s, err := statuscmd.List(ctx, a.Engine(""), o)
	if err != nil {
		return err
	}
	if err := a.printList(&f.print, f.view().List((*ui.Nodes)(s), a.Now())); err != nil {
		return err
	}
	return s.Ended()
}

// statusView returns the function that shows a watch. A terminal gets a table in place, and
// other outputs get one line for each change.
func (a *app) statusView(f *statusFlags) func(time.Time, *statuscmd.Status, []status.Node) error {
	out, format, view := a.Out(), tty.Format(f.print.Output), f.view()
	if !out.Terminal || format != tty.Table && format != tty.Wide {
		feed := &list.Feed{Out: out, Format: format, Columns: view.Columns()}
		return func(now time.Time, s *statuscmd.Status, news []status.Node) error {
			return feed.Add(view.Items(news, slices.Concat(news, s.Nodes), now)...)
		}
	}
	screen := ui.NewScreen(out)
	return func(now time.Time, s *statuscmd.Status, _ []status.Node) error {
		screen.Show(view.List((*ui.Nodes)(s), now), format == tty.Wide)
		return nil
	}
}
