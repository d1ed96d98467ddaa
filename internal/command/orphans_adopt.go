package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/usecase/orphans"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
)

// adoptFlags are the flags of orphans adopt.
type adoptFlags struct {
	cmdflags.Apply
	everything bool
	sync       bool
}

func orphansAdoptCommand(a *app) *cobra.Command {
	f := adoptFlags{Apply: cmdflags.NewApply()}
	f.Given.Wait = false
	cmd := &cobra.Command{
		Use:   "adopt [OBJECT...|--all] -f PATH...",
		Short: "Adopt retained objects that a node needs again",
		Long: `Adopt orphans that your rows and forms render again. Name them as
Kind[.group]/NAMESPACE/NAME, or pass --all. adopt adds each object to its node's
inventory again, and leaves its content unchanged. apply adopts orphans by
itself, and updates them.

The exit codes are those of apply. If lynqctl can't adopt an object that you
named, the exit code is 2 and nothing changed.`,
		Example: `  # Adopt everything that your rows need again, without changing it yet
  lynqctl orphans adopt --all -f forms/

  # Adopt one volume
  lynqctl orphans adopt PersistentVolumeClaim/shop/acme-data -f forms/`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.orphansAdopt(cmd.Context(), &f, args) },
	}
	flags := cmd.Flags()
	f.Render.RegisterCluster(flags)
	cmdflags.RegisterKeptTo(flags, &f.Render.Options.Access)
	f.Run.Register(flags)
	f.Run.RegisterExpand(flags)
	flags.StringSliceVar(&f.Render.Nodes, "node", nil, "limit to these nodes (as shown by 'lynqctl status')")
	flags.BoolVar(&f.everything, "all", false, "adopt every orphan that your rows and forms render")
	flags.BoolVar(&f.sync, "sync", false, "also update their content to match the form")
	cmdflags.RegisterNoFinalizer(flags, &f.Given.NoFinalizer)
	return cmd
}

func (a *app) orphansAdopt(ctx context.Context, f *adoptFlags, args []string) error {
	named, err := namedOrphans(args, f.everything)
	if err != nil {
		return err
	}
	if len(named) == 0 && !f.everything {
		return session.BadUsage(errors.New("specify which orphans to adopt, or pass --all. List them with 'lynqctl orphans list -o name'"))
	}
	o, err := f.Options()
	if err != nil {
		return err
	}
	return orphans.Adopt(ctx, a.RunEngine(&f.Run), &orphans.AdoptOptions{Apply: *o, Named: named, Sync: f.sync})
}
