package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/historycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// historyFlags are the flags of history and history show.
type historyFlags struct {
	historycmd.Options
	print cmdflags.Print
	all   bool
	since string
	// expand shows the objects of groups. Only history show has it.
	expand cmdflags.Expand
}

func (f *historyFlags) register(flags *pflag.FlagSet) {
	f.Access.Register(flags)
	flags.StringVarP(&f.Namespace, "namespace", "n", "", "namespace (default: from the kubeconfig context)")
	flags.BoolVarP(&f.all, "all-namespaces", "A", false, "search all namespaces")
	f.print.Register(flags)
	cmdflags.RegisterTimeout(flags, &f.Timeout)
}

// check checks the flags, and finds the namespace. A named hub may contain one.
func (f *historyFlags) check(now time.Time, hub string) error {
	if err := errors.Join(f.print.Check(), cmdflags.CheckTimeout(f.Timeout)); err != nil {
		return err
	}
	if f.since != "" {
		age, err := orphan.ParseAge(f.since)
		if err != nil {
			return session.BadUsage(fmt.Errorf("--since: %w", err))
		}
		f.Since = now.Add(-age)
	}
	namespace, name, full := strings.Cut(hub, "/")
	if f.Hub = hub; full && !f.all && f.Namespace == "" {
		f.Namespace, f.Hub = namespace, name
	}
	var err error
	f.Namespace, err = session.NamespaceMeant(&f.Access, f.Namespace, f.all)
	return err
}

func historyCommand(a *app) *cobra.Command {
	var f historyFlags
	cmd := &cobra.Command{
		Use:        "history [HUB]",
		SuggestFor: []string{"log", "audit", "runs"},
		Short:      "List what past runs changed",
		Long: `List the newest runs that changed something, or that a guard refused, with the
command, the number of changed objects, and the result. Each hub keeps at most
50 runs in the ConfigMap lynqhistory-HUB. Other runs leave no entry.

To see the objects of a run and why it changed them, run 'lynqctl history show
RUN'.

Exit codes:
  0    success
  1    lynqctl couldn't read every run
  2    invalid usage, no such hub, or the cluster can't be read`,
		Example: `  # List the runs of a hub
  lynqctl history crm -n shop

  # List the runs of all hubs in the last day, with who ran them
  lynqctl history -A --since 24h -o wide`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && strings.Count(args[0], "/") > 1 {
				return errors.New("history takes the name of one hub, as NAME or NAMESPACE/NAME (lynqctl history -A has the names)")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.history(cmd.Context(), &f, strings.Join(args, ""))
		},
	}
	f.register(cmd.Flags())
	f.print.RegisterList(cmd.Flags())
	cmd.Flags().StringVar(&f.since, "since", "", "limit to runs that began in this time, for example 90m, 12h, or 30d")
	cmd.AddCommand(historyShowCommand(a))
	return cmd
}

func (a *app) history(ctx context.Context, f *historyFlags, hub string) error {
	now := time.Now()
	if err := f.check(now, hub); err != nil {
		return err
	}
	runs, err := historycmd.List(ctx, a.Engine(""), &f.Options)
	if err != nil {
		return err
	}
	where := "any namespace"
	if f.Namespace != "" {
		where = "namespace " + f.Namespace + " (-A looks in all)"
	}
	var shown []ui.Run
	for _, r := range runs.All {
		shown = append(shown, ui.Run(r))
	}
	if err := a.printList(&f.print, ui.RunList(shown, where, runs.Unread, now)); err != nil {
		return err
	}
	return runs.Ended()
}

func historyShowCommand(a *app) *cobra.Command {
	var f historyFlags
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "Show what a run changed, and why",
		Long: `Show one run: who ran it, with which flags, forms, and plan, and what it did to
each object. The same change in more than ten nodes is one group, and --expand
lists its objects. If the run changed several hubs, show prints each of them.

An entry has no values of rows.`,
		Example: `  # Show a run that 'lynqctl history' lists
  lynqctl history show 20260304-040607089-k3x9 -n shop

  # List the objects of the first group
  lynqctl history show 20260304-040607089-k3x9 -n shop --expand=1

  # List the objects that a run deleted
  lynqctl history show 20260304-040607089-k3x9 -n shop -o json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("history show takes the name of one run (lynqctl history -A has the names)")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.historyShow(cmd.Context(), &f, args[0])
		},
	}
	f.register(cmd.Flags())
	f.expand.Register(cmd.Flags())
	cmd.Flags().StringVar(&f.Hub, "hub", "", "limit to this hub (NAME or NAMESPACE/NAME)")
	return cmd
}

func (a *app) historyShow(ctx context.Context, f *historyFlags, run string) error {
	now := time.Now()
	expand, err := f.expand.Groups()
	if err := cmp.Or(err, f.check(now, f.Hub)); err != nil {
		return err
	}
	runs, err := historycmd.Show(ctx, a.Engine(""), &f.Options, run)
	if runs == nil {
		return err
	}
	list.Warn(a.NoteOut(), runs.Unread)
	if err != nil {
		return err
	}
	var shown []ui.Run
	for _, r := range runs.All {
		shown = append(shown, ui.Run(r))
	}
	if tty.Format(f.print.Output) == tty.Name {
		expand.All = true // a group has no name
	}
	all, err := ui.RunDetails(shown, expand, now)
	if err != nil {
		return session.BadUsage(err)
	}
	format, out := tty.Format(f.print.Output), a.Out()
	if len(all) == 1 {
		return cmp.Or(session.Fail(list.PrintDetails(all[0], format, out)), runs.Ended())
	}
	return cmp.Or(session.Fail(list.PrintAllDetails(all, format, out)), runs.Ended())
}
