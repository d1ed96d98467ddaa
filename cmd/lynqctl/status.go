package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/suggest"
	"github.com/lynqctl/lynqctl/internal/ui"
)

// statusFlags are the flags of status, and of status hub and form.
type statusFlags struct {
	recordFlags
	failed bool
	watch  bool
}

func (f *statusFlags) register(cmd *cobra.Command) {
	f.recordFlags.register(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.failed, "failed", false, "only nodes that are not well")
	flags.BoolVarP(&f.watch, "watch", "w", false, "go on, and show what changes, until interrupted or --timeout")
}

// statusCodes tells what the exit code says, for --help.
const statusCodes = `

Exit codes: 0 all nodes are well; 1 some are not, or could not be read, or the
last run wanted nodes that have no inventory; 2 bad usage, or a cluster that
cannot be read.`

func (a *app) statusCommand() *cobra.Command {
	var f statusFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show nodes and how they are",
		Long: `Show nodes and how the last run left them, and sums per hub and form.

What is shown is what was recorded: no object is looked at. 'status node NAME'
looks at the objects of one node as they are now.` + statusCodes,
		Example: `  # The nodes of the context's namespace
  lynqctl status

  # What needs attention, in all namespaces
  lynqctl status -A --failed

  # In a job: exit code 1 where a node of the hub is not well
  lynqctl status hub crm -A --failed

  # One node in full, with its pods, orphans and events
  lynqctl status node acme-web`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.status(cmd.Context(), &f) },
	}
	f.register(cmd)
	f.registerChoice(cmd)
	cmd.AddCommand(
		a.statusNodeCommand(),
		a.statusOf("hub", "Show the nodes of a hub", func(f *statusFlags, name string) { f.hubs = []string{name} }),
		a.statusOf("form", "Show the nodes of a form", func(f *statusFlags, name string) { f.forms = []string{name} }),
	)
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		hint := fmt.Sprintf("status node %s is one node", args[0])
		if fix := suggest.Fix(args[0], []string{"node", "hub", "form"}); fix != "" {
			hint = fix + "; " + hint
		}
		return fmt.Errorf("there is no command %q (%s)", "status "+args[0], hint)
	}
	return cmd
}

// statusOf is status for the nodes of one hub or form.
func (a *app) statusOf(what, short string, narrow func(f *statusFlags, name string)) *cobra.Command {
	var f statusFlags
	cmd := &cobra.Command{
		Use:   what + " NAME",
		Short: short,
		Long:  short + ", as 'lynqctl status --" + what + "' does." + statusCodes,
		Example: map[string]string{
			"hub": `  # In a job: exit code 1 where a node of the hub is not well
  lynqctl status hub crm -A --failed`,
			"form": `  # The nodes of a form, where several hubs have one of that name
  lynqctl status form web --hub crm -A`,
		}[what],
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("status %s takes the name of one %s, got %d (lynqctl status -A has the names)", what, what, len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			narrow(&f, args[0])
			return a.status(cmd.Context(), &f)
		},
	}
	f.register(cmd)
	f.registerNamespaces(cmd)
	if what == "form" {
		cmd.Flags().StringSliceVar(&f.hubs, "hub", nil, "only nodes of these hubs, as NAME or NAMESPACE/NAME, where several have a form of that name")
	}
	return cmd
}

// check checks the flags.
func (f *statusFlags) check() error {
	if f.watch && f.output == string(ui.YAML) {
		return badUsage(errors.New("--watch with -o yaml is not possible (-o json prints one object per line)"))
	}
	return f.recordFlags.check()
}

func (a *app) status(ctx context.Context, f *statusFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	ctx, cancel := f.deadline(ctx)
	defer cancel()
	client, err := a.connectToLook(&f.access)
	if err != nil {
		return err
	}
	s, err := f.look(ctx, client)
	if err != nil {
		return err
	}
	if f.watch {
		return a.watchStatus(ctx, f, client, s.elsewhere)
	}
	if err := f.printList(a, s.list(f, time.Now())); err != nil {
		return err
	}
	return s.ended()
}
