package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/engine"
)

// approveFlags are the flags of watch approve.
type approveFlags struct {
	engine.ApproveOptions
	namespace string
}

func (a *app) watchApproveCommand() *cobra.Command {
	var f approveFlags
	cmd := &cobra.Command{
		Use:   "approve HUB",
		Short: "Let deletions through that a guard holds",
		Long: `Let the deletions through that a guard holds of a hub: exactly those that are
shown, once. They are carried out by the instance that holds them, with its next
round. Where others are to go by then, all of them are held again.

On a terminal you are asked to confirm it; elsewhere --yes is required.

Exit codes: 0 approved; 2 bad usage, no such hub, or nothing is held, nothing
was touched; 3 not confirmed, or other deletions are held by now, nothing was
touched; 130 interrupted, nothing was touched.`,
		Example: `  # What is held, then all of it goes
  lynqctl status hub crm -n shop
  lynqctl watch approve crm -n shop`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || strings.Count(args[0], "/") > 1 {
				return errors.New("watch approve takes the name of one hub, as NAME or NAMESPACE/NAME (lynqctl status -A has the names)")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.watchApprove(cmd.Context(), &f, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.namespace, "namespace", "n", "", "namespace of the hub (default: the context's)")
	f.Access.Register(flags)
	registerTimeout(flags, &f.Timeout)
	flags.BoolVarP(&f.Yes, "yes", "y", false, "do not ask")
	return cmd
}

func (a *app) watchApprove(ctx context.Context, f *approveFlags, hub string) error {
	if err := errors.Join(engine.CheckNamespace(f.namespace), checkTimeout(f.Timeout)); err != nil {
		return err
	}
	var err error
	if f.Hub, err = engine.HubMeant(&f.Access, f.namespace, hub); err != nil {
		return err
	}
	return a.engine(string(ui.Table)).Approve(ctx, &f.ApproveOptions)
}
