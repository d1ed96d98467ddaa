package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/usecase/applycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/diffcmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
)

func applyCommand(a *app) *cobra.Command {
	f := cmdflags.NewApply()
	cmd := &cobra.Command{
		Use:        "apply -f PATH...",
		SuggestFor: []string{"sync", "up", "install", "upgrade", "create", "deploy"},
		Short:      "Create, update, and delete objects to match your rows",
		Long: `Render every active row with every form of its hub. Then create, update, and
delete objects until the cluster matches. The policies in your forms decide how
lynqctl updates, keeps, or deletes each object.

You can interrupt a run and run apply again. If one node fails, it keeps its
objects, and lynqctl still applies the others.

In a terminal, apply shows its plan and asks before it deletes objects. In
scripts and CI it never asks, and only the guards decide, such as --max-delete.

Exit codes:
  0    success
  1    something failed; the rest was applied
  2    invalid input or usage; nothing changed
  3    not confirmed, or refused by a guard; nothing changed
  130  interrupted; run the command again to continue`,
		Example: `  # Apply to the cluster in the current context
  lynqctl apply -f forms/

  # Preview the plan
  lynqctl apply -f forms/ --dry-run=client

  # Apply the plan that 'lynqctl plan' wrote, and nothing else
  lynqctl apply -f forms/ --plan plan.json

  # Apply one tenant, and don't wait until it is ready
  lynqctl apply -f forms/ --node acme-web --wait=false

  # In CI, print JSON events, and refuse to delete more than 5 nodes
  lynqctl apply -f forms/ -o json --max-delete=5`,
		Args: cmdflags.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.apply(cmd.Context(), &f) },
	}
	flags := cmd.Flags()
	f.Render.RegisterCluster(flags)
	cmdflags.RegisterKeptTo(flags, &f.Render.Options.Access)
	f.Run.Register(flags)
	f.Run.RegisterExpand(flags)
	f.Render.RegisterShard(flags, a.World.Getenv)
	f.RegisterChoice(flags)
	f.FailOn.Register(flags)
	flags.BoolVarP(&f.Given.Yes, "yes", "y", false, "don't ask for confirmation")
	flags.BoolVar(&f.Given.Wait, "wait", f.Given.Wait, "wait until objects are ready")
	f.Plan.RegisterFile(flags)
	flags.BoolVar(&f.Given.Resume, "continue", false, "go on with rollouts that pause after a stage")
	flags.IntVar(&f.Given.LastStage, "stage", 0, "end rollouts with this stage, counted from 1 (0 means all)")
	cmdflags.RegisterNoFinalizer(flags, &f.Given.NoFinalizer)
	cmdflags.RegisterNoGrace(flags, &f.Given.NoGrace)
	f.RegisterRecordValues(flags)
	f.Metrics.Register(flags)
	return cmd
}

// apply runs the command.
func (a *app) apply(ctx context.Context, f *cmdflags.Apply) error {
	o, err := f.Options()
	if err != nil {
		return err
	}
	failOn, err := f.FailOn.Codes(nil, "")
	if err != nil {
		return err
	}
	o.Review, o.Explain = diffcmd.Refusing(failOn), diffcmd.Explain
	return f.Metrics.Measured(a.RunEngine(&f.Run), func(e *session.Engine) error { return applycmd.Run(ctx, e, o) })
}
