package command

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lynqctl/lynqctl/internal/chart"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/cli"
	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
	"github.com/lynqctl/lynqctl/pkg/render"
)

func newApp(w World, args []string) *app {
	if w.Secrets == nil {
		w.Secrets = redact.New()
	}
	w.Stdout, w.Stderr = w.Stdout.Hiding(w.Secrets), w.Stderr.Hiding(w.Secrets)
	return &app{World: w, Version: buildVersion(), args: args}
}

// printList prints a list in the format of the flags.
func (a *app) printList(f *cmdflags.Print, l *list.List) error {
	return f.List(l, a.Out(), a.NoteOut())
}

// Exit codes (contract: commands).
const (
	exitOK          = 0
	exitFailed      = 1 // something failed, the run did the rest
	exitBadInput    = 2 // nothing changed
	exitRefused     = 3 // by a guard; nothing changed
	exitChanged     = 4 // the output changed without an error, for callers who ask
	exitInterrupted = 130
)

// Run runs one command line, without the program, and returns the exit code.
func Run(ctx context.Context, w World, args []string) int {
	if w.Helper == nil {
		w.Helper = chart.New(chart.Command)
		defer w.Helper.Close()
	}
	a := newApp(w, args)
	cmd := rootCommand(a)
	if asksCompletion(args) {
		registerCompletions(a, cmd)
	}
	cmd.SetArgs(args)
	cmd.SetIn(a.World.Stdin)
	cmd.SetOut(a.Out())
	cmd.SetErr(a.ErrOut())
	ran, err := cmd.ExecuteContextC(ctx)
	if err == nil {
		a.EndEvents(ran, false, "")
		return exitOK
	}
	code, summary := classify(ctx, err)
	said := func(text string) string { return text }
	if cli.IsPlugin(a.World.Program) {
		said = func(text string) string { return cli.AsCalled(cmd, text) }
	}
	why := said(err.Error())
	if errors.Is(err, session.ErrReported) || errors.Is(err, context.Canceled) {
		why = summary
	}
	a.EndEvents(ran, code == exitInterrupted, why)
	a.explain(err, summary, said)
	if hint := a.line.Blamed(err.Error()); hint != "" && code == exitBadInput {
		_, _ = fmt.Fprintln(a.ErrOut(), hint)
	}
	return code
}

// classify turns an error into an exit code. No other function does that.
func classify(ctx context.Context, err error) (code int, summary string) {
	var known *session.Error
	var misuse *cli.MisuseError
	switch {
	case errors.Is(context.Cause(ctx), context.Canceled):
		return exitInterrupted, "interrupted"
	case errors.As(err, &misuse):
		return exitBadInput, misuse.See
	case errors.As(err, &known):
		return map[session.Outcome]int{
			session.Failed: exitFailed, session.BadInput: exitBadInput, session.Refused: exitRefused, session.Changed: exitChanged,
		}[known.Outcome], known.Summary
	}
	return exitFailed, ""
}

// explain prints an error. It prints problems with their places, one on a line. It prints
// anything else as "error: ...". said replaces the names of commands by the name under
// which the user called lynqctl.
func (a *app) explain(err error, summary string, said func(string) string) {
	stderr := a.ErrOut()
	if known := (*session.Error)(nil); errors.As(err, &known) && known.Next != "" {
		defer func() { _, _ = fmt.Fprintln(stderr, said(known.Next)) }()
	}
	var problems lynq.Problems
	var rows *render.RowsError
	logged := (*LoggedError)(nil)
	switch {
	case errors.As(err, &logged):
	case errors.Is(err, session.ErrReported):
		if summary != "" {
			_, _ = fmt.Fprintln(stderr, "error:", summary)
		}
	case errors.As(err, &problems), errors.As(err, &rows):
		_, _ = fmt.Fprintln(stderr, session.Text(err))
		if summary != "" {
			_, _ = fmt.Fprintln(stderr, "error:", summary)
		}
	case errors.Is(err, context.Canceled):
		stderr.Rewind()
		_, _ = fmt.Fprintln(stderr, "error:", summary)
	default:
		_, _ = fmt.Fprintln(stderr, "error:", said(err.Error()))
		for _, line := range []string{kube.Hint(err), summary} {
			if line != "" {
				_, _ = fmt.Fprintln(stderr, said(line))
			}
		}
	}
}

func rootCommand(a *app) *cobra.Command {
	root := cli.Group(&cobra.Command{
		Use:   "lynqctl",
		Short: "Turn database rows into Kubernetes objects",
		Long: `lynqctl creates Kubernetes objects from database rows. You don't need an
operator in the cluster.

You write two kinds of YAML file. A LynqHub (hub) points to a table and maps its
columns. A LynqForm (form) holds templates of objects. Each form produces one
node for each active row. A node is the set of objects of one tenant, not a
cluster machine.`,
		Example: `  # Generate a hub and a form from a table, and render its rows
  lynqctl init --source csv:tenants.csv -o forms/
  lynqctl render -f forms/

  # Preview the changes, apply them, and check the result
  lynqctl diff -f forms/
  lynqctl apply -f forms/
  lynqctl status`,
		Version:       buildVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}, deleteCommand(a), finalizeCommand(a), statusCommand(a), waitCommand(a), initCommand(a),
		diffCommand(a), planCommand(a), applyCommand(a), renderCommand(a), validateCommand(a), graphCommand(a), inventoryCommand(a), orphansCommand(a), historyCommand(a), rbacCommand(a), shardCommand(a), watchCommand(a), suspendCommand(a), resumeCommand(a), explainCommand(a), reconcileCommand(a), adoptOperatorCommand(a), versionCommand(a))
	groupCommands(root)
	a.Common.Register(root.PersistentFlags())
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		a.Runs(cmd, a.line.FromEnvironment(cmdflags.Unsaid()))
	}
	if cli.IsPlugin(a.World.Program) {
		cli.AsPlugin(root)
	}
	a.line = &cli.Line{
		Args: a.args, Getenv: a.World.Getenv, OnlySaid: cmdflags.OnlySaid(), Looser: cmdflags.Looser, Known: cmdflags.Cluster(), Columns: a.Columns, NoArgs: cmdflags.NoArgs, Check: a.Common.Check,
		Sections: cmdflags.Sections(), SectionOf: cmdflags.SectionOf,
	}
	a.line.Govern(root)
	return root
}

// groupCommands puts the commands into groups, by what people want to do.
func groupCommands(root *cobra.Command) {
	for _, g := range []struct {
		title    string
		commands []string
	}{
		{"Write hubs and forms", []string{"init", "explain", "validate", "render", "graph"}},
		{"Change a cluster", []string{"plan", "apply", "watch", "reconcile", "delete"}},
		{"Look at a cluster", []string{"diff", "status", "wait", "history"}},
		{"Repair", []string{"suspend", "resume", "orphans", "inventory", "finalize"}},
		{"Set up", []string{"rbac", "shard", "adopt-operator"}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range root.Commands() {
			if slices.Contains(g.commands, c.Name()) {
				c.GroupID = g.title
			}
		}
	}
}
