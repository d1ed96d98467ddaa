package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/suggest"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/engine"
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
	f.registerIgnore(flags)
	f.registerSelector(flags)
	flags.BoolVar(&f.failed, "failed", false, "only nodes that are not Ready")
	flags.BoolVar(&f.recorded, "recorded", false, "show what the last runs recorded, and look at no object")
	flags.BoolVarP(&f.watch, "watch", "w", false, "go on, and show what changes, until interrupted or --timeout")
}

// statusCodes tells what the exit code says, for --help.
const statusCodes = `

Exit codes: 0 all nodes are Ready; 1 some are not, or not all could be looked
at, or the last run wanted nodes that have no inventory; 2 bad usage, or a
cluster that cannot be read.`

func (a *app) statusCommand() *cobra.Command {
	var f statusFlags
	cmd := &cobra.Command{
		Use:   "status [TYPE/NAME...]",
		Short: "Show nodes and how they are",
		Long: `Show nodes and how they are now, and sums per hub and form.

Objects are looked at in a few lists for each hub: what is gone, was changed by
other clients, or is not ready, is shown. --recorded shows what the last runs
recorded instead. 'status node NAME' shows the objects of a node, as 'status
node/NAME' does; hub/NAME and form/NAME are the nodes of those.` + statusCodes,
		Example: `  # The nodes of the context's namespace
  lynqctl status

  # What needs attention, in all namespaces
  lynqctl status -A --failed

  # Those of a form and a label that was put on their inventories
  lynqctl status -A -l lynq.sh/template=web,tier=gold

  # How the last runs left them, though objects may have changed since
  lynqctl status -A --recorded

  # In a job: exit code 1 where a node of the hub is not Ready
  lynqctl status hub crm -A --failed

  # One node in full, with its pods, orphans and events
  lynqctl status node acme-web`,
		Args: f.checkNamed,
		RunE: func(cmd *cobra.Command, args []string) error { return a.statusNamed(cmd.Context(), &f, args) },
	}
	f.register(cmd.Flags())
	f.registerChoice(cmd.Flags())
	cmd.AddCommand(
		a.statusNodeCommand(),
		a.statusOf("hub", "Show the nodes of hubs", func(f *statusFlags, names []string) { f.Hubs = names }),
		a.statusOf("form", "Show the nodes of forms", func(f *statusFlags, names []string) { f.Forms = names }),
	)
	return cmd
}

func statusTypes() []string { return []string{"node", "hub", "form"} }

// checkNamed checks the arguments of status, TYPE/NAME, and that it has no flags for
// lists where they name nodes.
func (f *statusFlags) checkNamed(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !strings.Contains(args[0], "/") {
		hint := fmt.Sprintf("status node %s is one node", args[0])
		if fix := suggest.Fix(args[0], statusTypes()); fix != "" {
			hint = fix + "; " + hint
		}
		return fmt.Errorf("there is no command %q (%s)", "status "+args[0], hint)
	}
	what, names, err := oneType(args, statusTypes())
	if err != nil || what != "node" {
		return err
	}
	if _, err := nodeNames(names); err != nil {
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

// statusNamed shows what the arguments name, all nodes where there are none.
func (a *app) statusNamed(ctx context.Context, f *statusFlags, args []string) error {
	if len(args) == 0 {
		return a.status(ctx, f)
	}
	what, names, err := oneType(args, statusTypes())
	if err != nil {
		return engine.BadUsage(err)
	}
	switch what {
	case "node":
		f.Nodes, f.all = names, false
		return a.statusNodes(ctx, &f.inventoryFlags)
	case "hub":
		f.Hubs = append(f.Hubs, names...)
	case "form":
		f.Forms = append(f.Forms, names...)
	}
	return a.status(ctx, f)
}

// statusOf is status for the nodes of some hubs or forms.
func (a *app) statusOf(what, short string, narrow func(f *statusFlags, names []string)) *cobra.Command {
	var f statusFlags
	cmd := &cobra.Command{
		Use:   what + " NAME...",
		Short: short,
		Long:  short + ", as 'lynqctl status --" + what + "' does." + statusCodes,
		Example: map[string]string{
			"hub": `  # In a job: exit code 1 where a node of the hub is not Ready
  lynqctl status hub crm -A --failed`,
			"form": `  # The nodes of a form, where several hubs have one of that name
  lynqctl status form web --hub crm -A`,
		}[what],
		Args: someNames("status "+what, what, "lynqctl status -A"),
		RunE: func(cmd *cobra.Command, args []string) error {
			narrow(&f, args)
			return a.status(cmd.Context(), &f)
		},
	}
	f.register(cmd.Flags())
	f.registerNamespaces(cmd.Flags())
	if what == "form" {
		cmd.Flags().StringSliceVar(&f.Hubs, "hub", nil, "only nodes of these hubs, as NAME or NAMESPACE/NAME, where several have a form of that name")
	}
	return cmd
}

// view says what is shown.
func (f *statusFlags) view() *ui.NodeView {
	v := f.inventoryFlags.view(f.failed)
	v.Recorded = f.recorded
	return v
}

// check checks the flags.
func (f *statusFlags) check() error {
	if err := f.inventoryFlags.check(); err != nil || !f.watch {
		return err
	}
	return f.checkWatch()
}

func (a *app) status(ctx context.Context, f *statusFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	o := &engine.StatusOptions{InventoryOptions: f.InventoryOptions, FailedOnly: f.failed, Recorded: f.recorded}
	if f.watch {
		return a.engine("").WatchStatus(ctx, o, a.statusView(f))
	}
	s, err := a.engine("").Status(ctx, o)
	if err != nil {
		return err
	}
	if err := f.printList(a, f.view().List((*ui.Nodes)(s), time.Now())); err != nil {
		return err
	}
	return s.Ended()
}

// statusView shows a watch: on a terminal in place, elsewhere by a line for each
// change.
func (a *app) statusView(f *statusFlags) func(time.Time, *engine.StatusWatch) error {
	out, format, view := a.out(), ui.Format(f.output), f.view()
	if !out.Terminal || format != ui.Table && format != ui.Wide {
		feed := &ui.Feed{Out: out, Format: format, Columns: view.Columns()}
		return func(now time.Time, w *engine.StatusWatch) error {
			news, shown := w.Take()
			return feed.Add(view.Items(news, shown, now)...)
		}
	}
	// While much changes it is not drawn more often than can be seen; the watch asks
	// again within a second.
	screen, drawn := ui.NewScreen(out), time.Time{}
	return func(now time.Time, w *engine.StatusWatch) error {
		if now.Sub(drawn) < ui.Redraw {
			return nil
		}
		if s := w.Status(); s != nil {
			screen.Show(view.List((*ui.Nodes)(s), now), format == ui.Wide)
			drawn = now
		}
		return nil
	}
}
