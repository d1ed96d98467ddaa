package command

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/internal/usecase/statuscmd"
)

// waitPatience is the default of wait's --timeout. It is that of a resource in a form.
const waitPatience = 5 * time.Minute

// waitFlags are the flags of wait, and of wait node.
type waitFlags struct {
	inventoryFlags
	reached string
	files   load.RenderOptions
}

func (f *waitFlags) register(flags *pflag.FlagSet) {
	f.inventoryFlags.register(flags)
	flags.Lookup("timeout").DefValue = waitPatience.String()
	f.options.Timeout = waitPatience
	flags.StringVar(&f.reached, "for", "ready", "what to wait for: ready")
}

// check checks the flags.
func (f *waitFlags) check() error {
	return errors.Join(cmdflags.OneOf("--for", f.reached, "ready"), f.inventoryFlags.check())
}

// waitCodes explains the exit codes in --help.
const waitCodes = `

wait ends early if an object can't become ready until somebody changes
something, such as an image that its registry doesn't have.

Exit codes:
  0    all nodes are ready
  1    a node isn't ready at the end of --timeout, or can't become ready
  2    invalid usage, no such node, or the cluster can't be read
  130  interrupted`

func waitCommand(a *app) *cobra.Command {
	var f waitFlags
	cmd := &cobra.Command{
		Use:        "wait -f PATH...",
		SuggestFor: []string{"await", "until"},
		Short:      "Wait until nodes are ready",
		Long: `Wait until the nodes of the hubs in your files are ready. wait reads no rows. It
checks the nodes that the last run of each hub recorded, as status does, and
prints the nodes that aren't ready at the end.

To wait for one node, run 'lynqctl wait node NAME'.` + waitCodes,
		Example: `  # In a job, after another process applied the files
  lynqctl wait -f forms/ --timeout 10m`,
		Args: cmdflags.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.waitFiles(cmd.Context(), &f) },
	}
	f.register(cmd.Flags())
	cmdflags.RegisterInputs(cmd.Flags(), &f.files.Inputs)
	cmd.AddCommand(waitNodeCommand(a))
	return cmd
}

func waitNodeCommand(a *app) *cobra.Command {
	var f waitFlags
	cmd := &cobra.Command{
		Use:     "node NAME...",
		Short:   "Wait until one or more nodes are ready",
		Long:    "Wait until nodes are ready, and print those that aren't at the end." + waitCodes,
		Example: `  lynqctl wait node acme-web -n shop --timeout 2m`,
		Args:    cmdflags.SomeNodes("wait node", "lynqctl status"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if f.options.Nodes, err = cmdflags.NodeNames(args); err != nil {
				return session.BadUsage(err)
			}
			if err := f.check(); err != nil {
				return err
			}
			return a.wait(cmd.Context(), &f)
		},
	}
	f.register(cmd.Flags())
	return cmd
}

// waitFiles waits for the nodes of the hubs in files. Without -n, they may be in any
// namespace.
func (a *app) waitFiles(ctx context.Context, f *waitFlags) error {
	f.all = f.options.Namespace == ""
	if err := f.check(); err != nil {
		return err
	}
	f.files.Access, f.files.Namespace = f.options.Access, f.options.Namespace
	hubs, err := statuscmd.HubsOf(ctx, a.Engine(""), &f.files)
	if err != nil {
		return err
	}
	f.options.Hubs, f.options.Forms = hubs, f.files.Inputs.Forms
	f.options.IgnoreNotFound = true // a run may be about to record the hub
	return a.wait(ctx, f)
}

func (a *app) wait(ctx context.Context, f *waitFlags) error {
	s, err := statuscmd.Wait(ctx, a.Engine(""), &statuscmd.Options{InventoryOptions: f.options})
	if s == nil {
		return err
	}
	return cmp.Or(a.printList(&f.print, f.view(true).List((*ui.Nodes)(s), a.Now())), err)
}
