package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/usecase/watchcmd"
)

// reconcileFlags are the flags of reconcile.
type reconcileFlags struct {
	watchcmd.HubOptions
	namespace string
}

// reconcileCommand returns the command reconcile.
func reconcileCommand(a *app) *cobra.Command {
	var f reconcileFlags
	cmd := &cobra.Command{
		Use:        "reconcile HUB",
		SuggestFor: []string{"refresh", "sync", "trigger"},
		Short:      "Ask a running watch to check a hub now",
		Long: `Ask the watch that has a hub to read its rows and to check all of its nodes now,
instead of at the next syncInterval. reconcile doesn't wait for the result.

It sets the annotation lynq.sh/reconcile-at on the hub record, so you need
permission to get and update ConfigMaps in the hub's namespace.

Exit codes:
  0    asked
  2    invalid usage, no such hub, or no watch has the hub; nothing changed
  130  interrupted; nothing changed`,
		Example: `  lynqctl reconcile crm -n shop`,
		Args:    oneHub("reconcile"),
		RunE:    func(cmd *cobra.Command, args []string) error { return reconcile(cmd.Context(), a, &f, args[0]) },
	}
	registerHub(cmd.Flags(), &f.HubOptions, &f.namespace)
	return cmd
}

func reconcile(ctx context.Context, a *app, f *reconcileFlags, hub string) error {
	if err := findHub(&f.HubOptions, f.namespace, hub); err != nil {
		return err
	}
	return watchcmd.Reconcile(ctx, a.Engine(""), &f.HubOptions)
}
