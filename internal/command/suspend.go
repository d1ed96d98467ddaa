package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/cli"
	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/internal/usecase/suspend"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// suspendFlags are the flags of suspend and resume.
type suspendFlags struct {
	suspend.Options
	until, period string
}

func (f *suspendFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Dir, "output-dir", "", "nodes of the tree in this directory, which 'render --output-dir' wrote, instead of the cluster")
	f.Access.Register(flags)
	flags.StringVarP(&f.Namespace, "namespace", "n", "", "namespace (default: from the kubeconfig context; with --output-dir: any)")
	cmdflags.RegisterTimeout(flags, &f.Timeout)
	flags.BoolVar(&f.IgnoreNotFound, "ignore-not-found", false, "don't treat a missing resource as an error")
}

// check checks the flags, and finds the namespace.
func (f *suspendFlags) check(flags *pflag.FlagSet, now time.Time, nodes []string) error {
	var err error
	if f.Nodes, err = cmdflags.NodeNames(nodes); err != nil {
		return session.BadUsage(err)
	}
	if err := errors.Join(session.CheckNamespace(f.Namespace), cmdflags.CheckTimeout(f.Timeout)); err != nil {
		return err
	}
	if err := f.checkEnd(now); err != nil {
		return session.BadUsage(err)
	}
	if f.Dir != "" || flags.Changed("output-dir") {
		return f.checkTree(flags)
	}
	f.Namespace, err = session.NamespaceMeant(&f.Access, f.Namespace, false)
	return err
}

// checkTree refuses flags that a tree doesn't need.
func (f *suspendFlags) checkTree(flags *pflag.FlagSet) error {
	if f.Dir == "" {
		return session.BadUsage(errors.New("--output-dir is empty (an unset variable, perhaps)"))
	}
	cluster := cmdflags.Cluster()
	cmdflags.RegisterTimeout(cluster, new(time.Duration))
	var err error
	flags.Visit(func(flag *pflag.Flag) {
		if cluster.Lookup(flag.Name) != nil {
			err = session.BadUsage(fmt.Errorf("--%s is about a cluster, and --output-dir about a tree (leave one of them out)", flag.Name))
		}
	})
	return err
}

// checkEnd finds the end of the suspension.
func (f *suspendFlags) checkEnd(now time.Time) error {
	switch {
	case f.until != "" && f.period != "":
		return errors.New("--until and --for exclude each other")
	case f.until != "":
		until, err := time.Parse(time.RFC3339, f.until)
		if err != nil {
			return fmt.Errorf("--until %q isn't a time (write it like %s)", f.until, now.UTC().Add(time.Hour).Format(time.RFC3339))
		}
		f.Until = until
	case f.period != "":
		period, err := orphan.ParseAge(f.period)
		if err != nil {
			return fmt.Errorf("--for: %w", err)
		}
		if period <= 0 {
			return fmt.Errorf("--for %s is not a time span (write it like 90m, 12h, or 30d)", f.period)
		}
		f.Until = now.Add(period)
	}
	return nil
}

// suspendCodes explains the exit codes in --help.
const suspendCodes = `

Exit codes:
  0    success
  1    some nodes could not be changed
  2    invalid usage, or no such node; nothing changed
  3    another run writes to the tree; nothing changed
  130  interrupted`

func suspendCommand(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:        "suspend",
		SuggestFor: []string{"pause", "hold", "disable"},
		Short:      "Keep lynqctl off nodes for a while",
		Long: `Keep lynqctl off nodes, for example while you repair a tenant with kubectl.
'lynqctl resume' ends that.`,
	}, suspendNodeCommand(a))
}

func suspendNodeCommand(a *app) *cobra.Command {
	var f suspendFlags
	cmd := &cobra.Command{
		Use:   "node NAME...",
		Short: "Suspend one or more nodes",
		Long: `Suspend nodes. Until you resume a node, or until its time is over, apply and
watch neither change nor delete its objects, whatever its row says. lynqctl
refuses commands that delete the node by name.

The suspension is an annotation on the node's inventory. You need permission to
get and update ConfigMaps in the node's namespace, as the role edit grants it. A
run in progress may still finish the node.

With --output-dir, render keeps the node's files in a tree as they are. The
suspension is a line in the tree's index. Commit that file.` + suspendCodes,
		Example: `  # Repair a tenant with kubectl, for two hours
  lynqctl suspend node acme-web --for 2h --reason "restoring a backup"

  # Until a time
  lynqctl suspend node acme-web -n shop --until 2030-01-01T06:00:00Z

  # In a tree for Git
  lynqctl suspend node acme-web --output-dir tenants/ --for 2h`,
		Args: cmdflags.SomeNodes("suspend node", "lynqctl status"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.suspend(cmd, &f, args, suspend.Suspend)
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&f.Reason, "reason", "", "why, for people")
	cmd.Flags().StringVar(&f.until, "until", "", "when the suspension ends, as RFC 3339 (default: never)")
	cmd.Flags().StringVar(&f.period, "for", "", "how long the suspension lasts, for example 90m, 12h, or 30d")
	return cmd
}

func resumeCommand(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:        "resume",
		SuggestFor: []string{"unsuspend", "unpause", "continue"},
		Short:      "Let lynqctl continue with suspended nodes",
		Long:       "Let lynqctl continue with nodes that someone suspended.",
	}, resumeNodeCommand(a))
}

func resumeNodeCommand(a *app) *cobra.Command {
	var f suspendFlags
	cmd := &cobra.Command{
		Use:   "node NAME...",
		Short: "Resume one or more nodes",
		Long: `Resume nodes that someone suspended. The next apply, or the running watch,
brings them to the state that their rows describe. With --output-dir, the next
render does so with their files in a tree.` + suspendCodes,
		Example: `  lynqctl resume node acme-web

  # In a tree for Git
  lynqctl resume node acme-web --output-dir tenants/`,
		Args: cmdflags.SomeNodes("resume node", "lynqctl status"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.suspend(cmd, &f, args, suspend.Resume)
		},
	}
	f.register(cmd)
	return cmd
}

func (a *app) suspend(cmd *cobra.Command, f *suspendFlags, nodes []string, change func(context.Context, *session.Engine, *suspend.Options) error) error {
	if err := f.check(cmd.Flags(), a.Now(), nodes); err != nil {
		return err
	}
	return change(cmd.Context(), a.Engine(""), &f.Options)
}
