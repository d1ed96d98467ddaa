package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/inventorycmd"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

// rebuildFlags are the flags of inventory rebuild.
type rebuildFlags struct {
	cmdflags.Apply
	everywhere bool
	yes        bool
}

func inventoryRebuildCommand(a *app) *cobra.Command {
	f := rebuildFlags{Apply: cmdflags.NewApply()}
	f.Given.Wait = false
	cmd := &cobra.Command{
		Use:   "rebuild [NODE...]",
		Short: "Rebuild lost inventories from live objects",
		Long: `Rebuild inventories from the labels, annotations, and owner references of live
objects. Use it after you lose inventories, for example because a backup has no
ConfigMaps. rebuild shows the new entries and asks before it writes them.

With -f, lynqctl takes the row, the form, and the dependencies of a node from
your rows and forms. Without -f, rebuild takes the form from other nodes of the
hub, or from --form. That is enough for 'lynqctl delete node'.

Exit codes:
  0    success, or nothing to do
  1    some inventories were not rebuilt; the others were
  2    invalid input or usage; nothing changed
  3    not confirmed, or another run is using the hub; nothing changed
  130  interrupted`,
		Example: `  # Rebuild the inventories that your rows and forms need
  lynqctl inventory rebuild -f forms/

  # Rebuild a node whose row no longer exists, so you can delete it
  lynqctl inventory rebuild acme-web -n shop --form web`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.inventoryRebuild(cmd.Context(), &f, args) },
	}
	flags := cmd.Flags()
	f.Render.RegisterCluster(flags)
	f.Run.Register(flags)
	flags.Lookup("output").Usage = "output format: table, wide, json, yaml, or name"
	flags.Lookup("dry-run").Usage = "none, client, or server (the last two show the inventories and write nothing)"
	flags.Lookup("namespace").Usage = "namespace (default: from the kubeconfig context; with -f, all namespaces of the nodes)"
	flags.Lookup("form").Usage = "limit to these forms; without -f, the form of nodes that lynqctl can't infer"
	flags.BoolVarP(&f.everywhere, "all-namespaces", "A", false, "search all namespaces")
	flags.BoolVarP(&f.yes, "yes", "y", false, "don't ask for confirmation")
	cmdflags.RegisterNoFinalizer(flags, &f.Given.NoFinalizer)
	return cmd
}

func (a *app) inventoryRebuild(ctx context.Context, f *rebuildFlags, nodes []string) error {
	namespace, err := f.scope()
	if err != nil {
		return err
	}
	o, err := f.Options()
	if err != nil {
		return err
	}
	return inventorycmd.Rebuild(ctx, a.Engine(f.Run.Output), &inventorycmd.RebuildOptions{
		Apply: *o, Node: nodes, Where: namespace, Yes: f.yes,
		Show: func(rebuilt []plan.Restoration, complete bool) error {
			return session.Fail(list.Print(ui.RebuiltList(rebuilt, complete), tty.Format(f.Run.Output), a.Out(), a.NoteOut()))
		},
		Progress: a.Muted().View(string(tty.Table)), // standard output gets only the list of inventories
	})
}

// scope returns the namespace of the nodes, "" for all. With inputs, the nodes may be in
// any namespace.
func (f *rebuildFlags) scope() (string, error) {
	o := &f.Render
	if len(o.Options.Inputs.Paths) == 0 && len(o.Options.Inputs.Forms) > 1 {
		return "", session.BadUsage(errors.New("without -f, --form takes one form"))
	}
	return session.OneOrAll(&o.Options.Access, o.Options.Namespace, f.everywhere || len(o.Options.Inputs.Paths) > 0 && o.Options.Namespace == "")
}
