package command

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/internal/usecase/watchcmd"
)

// approveFlags are the flags of watch approve.
type approveFlags struct {
	watchcmd.ApproveOptions
	namespace string
}

// registerHub adds the flags of commands about the hub of a running watch.
func registerHub(flags *pflag.FlagSet, o *watchcmd.HubOptions, namespace *string) {
	flags.StringVarP(namespace, "namespace", "n", "", "namespace (default: from the kubeconfig context)")
	o.Access.Register(flags)
	cmdflags.RegisterTimeout(flags, &o.Timeout)
}

// oneHub checks that a command gets the name of one hub.
func oneHub(command string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 || strings.Count(args[0], "/") > 1 {
			return errors.New(command + " takes the name of one hub, as NAME or NAMESPACE/NAME (lynqctl status -A has the names)")
		}
		return nil
	}
}

// findHub checks the flags, and completes the hub's name.
func findHub(o *watchcmd.HubOptions, namespace, hub string) error {
	if err := errors.Join(session.CheckNamespace(namespace), cmdflags.CheckTimeout(o.Timeout)); err != nil {
		return err
	}
	var err error
	o.Hub, err = session.HubMeant(&o.Access, namespace, hub)
	return err
}

func approveCommand(a *app) *cobra.Command {
	var f approveFlags
	cmd := &cobra.Command{
		Use:   "approve HUB",
		Short: "Approve deletions that a guard is holding",
		Long: `Approve the deletions that a guard is holding for a hub. The approval covers
exactly the deletions shown, once. The running watch carries them out in its
next round. If the set of deletions changes before that, watch holds all of them
again.

In a terminal, you confirm the approval. Elsewhere, pass --yes.

Exit codes:
  0    approved
  2    invalid usage, no such hub, or no held deletions; nothing changed
  3    not confirmed, or the held deletions changed; nothing changed
  130  interrupted; nothing changed`,
		Example: `  # Show the held deletions, then approve them
  lynqctl status hub crm -n shop
  lynqctl watch approve crm -n shop`,
		Args: oneHub("watch approve"),
		RunE: func(cmd *cobra.Command, args []string) error { return approve(cmd.Context(), a, &f, args[0]) },
	}
	flags := cmd.Flags()
	registerHub(flags, &f.HubOptions, &f.namespace)
	flags.BoolVarP(&f.Yes, "yes", "y", false, "don't ask for confirmation")
	return cmd
}

func approve(ctx context.Context, a *app, f *approveFlags, hub string) error {
	if err := findHub(&f.HubOptions, f.namespace, hub); err != nil {
		return err
	}
	return watchcmd.Approve(ctx, a.Engine(string(tty.Table)), &f.ApproveOptions)
}
