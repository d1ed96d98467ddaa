package lynqctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/cli"
	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// World is the outside world of a command.
type World struct {
	Stdin          io.Reader
	Stdout, Stderr tty.Output
	Getenv         func(string) string
	Program        string // as it was called
	// Transport carries the requests to clusters; nil is one of its own for each cluster.
	Transport http.RoundTripper
}

// app is one command line, in its world.
type app struct {
	World
	args       []string // of the command line
	summarized bool     // events ended with a summary

	common commonFlags
	line   *cli.Line
}

// Exit codes (contract: commands).
const (
	exitOK          = 0
	exitFailed      = 1 // something failed; the rest was done
	exitBadInput    = 2 // nothing changed
	exitRefused     = 3 // by a guard; nothing changed
	exitChanged     = 4 // all is well, and the output changed: for those who asked
	exitInterrupted = 130
)

// Run runs one command line and gives the exit code.
func Run(ctx context.Context, w World, args []string) int {
	a := &app{World: w, args: args}
	cmd := rootCommand(a)
	if completing(args) {
		registerCompletions(a, cmd)
	}
	cmd.SetArgs(args)
	cmd.SetIn(a.Stdin)
	cmd.SetOut(a.out())
	cmd.SetErr(a.errOut())
	ran, err := cmd.ExecuteContextC(ctx)
	if err == nil {
		a.endEvents(ran, exitOK, "")
		return exitOK
	}
	code, summary := classify(ctx, err)
	said := func(text string) string { return text }
	if cli.IsPlugin(a.Program) {
		said = func(text string) string { return cli.AsCalled(cmd, text) }
	}
	why := said(err.Error())
	if errors.Is(err, session.ErrReported) || errors.Is(err, context.Canceled) {
		why = summary
	}
	a.endEvents(ran, code, why)
	a.explain(err, summary, said)
	if hint := a.line.Blamed(err.Error()); hint != "" && code == exitBadInput {
		_, _ = fmt.Fprintln(a.errOut(), hint)
	}
	return code
}

// classify is the one place that makes an exit code of an error.
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

// explain prints an error: problems with their places as they are, one a line,
// anything else as "error: ...". What is said of commands is said as they are
// called.
func (a *app) explain(err error, summary string, said func(string) string) {
	stderr := a.errOut()
	if known := (*session.Error)(nil); errors.As(err, &known) && known.Next != "" {
		defer func() { _, _ = fmt.Fprintln(stderr, said(known.Next)) }()
	}
	var problems lynq.Problems
	var badRows *render.BadRowsError
	var failedRows *render.FailedRowsError
	logged := (*loggedError)(nil)
	switch {
	case errors.As(err, &logged):
	case errors.Is(err, session.ErrReported):
		if summary != "" {
			_, _ = fmt.Fprintln(stderr, "error:", summary)
		}
	case errors.As(err, &problems), errors.As(err, &badRows), errors.As(err, &failedRows):
		_, _ = fmt.Fprintln(stderr, err)
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
	}, deleteCommand(a), finalizeCommand(a), statusCommand(a), initCommand(a),
		diffCommand(a), applyCommand(a), renderCommand(a), validateCommand(a), graphCommand(a), inventoryCommand(a), orphansCommand(a), rbacCommand(a), watchCommand(a), adoptOperatorCommand(a), versionCommand(a))
	a.common.register(root.PersistentFlags())
	if cli.IsPlugin(a.Program) {
		cli.AsPlugin(root)
	}
	a.line = &cli.Line{
		Args: a.args, Getenv: a.Getenv, OnlySaid: onlySaid(), Known: clusterFlagSet(), Columns: a.columns, NoArgs: noArgs, Check: a.common.check,
	}
	a.line.Govern(root)
	return root
}
