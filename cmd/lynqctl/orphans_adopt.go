package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/pkg/engine"
)

// adoptFlags are the flags of orphans adopt.
type adoptFlags struct {
	applyFlags
	everything bool
	sync       bool
}

func (a *app) orphansAdoptCommand() *cobra.Command {
	f := adoptFlags{applyFlags: defaultApplyFlags()}
	f.Wait = false
	cmd := &cobra.Command{
		Use:   "adopt [OBJECT...|--all] -f PATH...",
		Short: "Adopt orphans that rows and forms render again",
		Long: `Adopt orphans that the current rows and forms render again: those that are
named, as Kind[.group]/NAMESPACE/NAME, or all. They lose the markers of orphans,
are tracked and recorded again, and their content stays as it is, unless --sync
is set. Orphans that nothing renders are listed with the reason.

apply adopts the orphans that it renders; this is for adopting objects one by
one, or without changing them yet.

Exit codes: those of apply. One that is named and cannot be adopted is bad
input: 2, nothing was touched.`,
		Example: `  # Adopt all that the rows want again, and let apply change it later
  lynqctl orphans adopt --all -f forms/

  # One volume
  lynqctl orphans adopt PersistentVolumeClaim/shop/acme-data -f forms/`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.orphansAdopt(cmd.Context(), &f, args) },
	}
	flags := cmd.Flags()
	f.render.registerCluster(flags)
	f.run.registerRun(flags)
	flags.StringSliceVar(&f.render.nodes, "node", nil, "only orphans of these nodes: UID-FORM, or the name that status shows")
	flags.BoolVar(&f.everything, "all", false, "all orphans that rows and forms render")
	flags.BoolVar(&f.sync, "sync", false, "bring their content to what the form says, too")
	registerNoFinalizer(flags, &f.NoFinalizer)
	return cmd
}

func (a *app) orphansAdopt(ctx context.Context, f *adoptFlags, args []string) error {
	named, err := namedOrphans(args, f.everything)
	if err != nil {
		return err
	}
	if len(named) == 0 && !f.everything {
		return engine.BadUsage(errors.New("adopt what? name orphans, as lynqctl orphans list -o name does, or say --all"))
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	return a.engine(f.run.output).Adopt(ctx, &engine.AdoptOptions{ApplyOptions: *o, Named: named, Sync: f.sync})
}
