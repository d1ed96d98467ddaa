package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/cli"
	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/engine"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// app is the outside world of a command.
type app struct {
	stdin          io.Reader
	stdout, stderr ui.Output
	getenv         func(string) string
	args           []string // of the command line
	program        string   // as it was called
	summarized     bool     // events ended with a summary

	common commonFlags
	line   *cli.Line
}

// Exit codes (contract: commands).
const (
	exitOK          = 0
	exitFailed      = 1 // something failed; the rest was done
	exitBadInput    = 2 // nothing was touched
	exitRefused     = 3 // by a guard; nothing was touched
	exitChanged     = 4 // all is well, and the output changed: for those who asked
	exitInterrupted = 130
)

// run runs one command line and gives the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	a.args = args
	kube.LogTo(a.errOut())
	cmd := a.rootCommand()
	if completing(args) {
		a.registerCompletions(cmd)
	}
	cmd.SetArgs(args)
	cmd.SetIn(a.stdin)
	cmd.SetOut(a.out())
	cmd.SetErr(a.errOut())
	ran, err := cmd.ExecuteContextC(ctx)
	if err == nil {
		a.endEvents(ran, exitOK, "")
		return exitOK
	}
	code, summary := classify(ctx, err)
	said := func(text string) string { return text }
	if cli.IsPlugin(a.program) {
		said = func(text string) string { return cli.AsCalled(cmd, text) }
	}
	why := said(err.Error())
	if errors.Is(err, engine.ErrReported) || errors.Is(err, context.Canceled) {
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
	var known *engine.Error
	var misuse *cli.MisuseError
	switch {
	case errors.Is(context.Cause(ctx), context.Canceled):
		return exitInterrupted, "interrupted"
	case errors.As(err, &misuse):
		return exitBadInput, misuse.See
	case errors.As(err, &known):
		return map[engine.Outcome]int{
			engine.Failed: exitFailed, engine.BadInput: exitBadInput, engine.Refused: exitRefused, engine.Changed: exitChanged,
		}[known.Outcome], known.Summary
	}
	return exitFailed, ""
}

// explain prints an error: problems with their places as they are, one a line,
// anything else as "error: ...". What is said of commands is said as they are
// called.
func (a *app) explain(err error, summary string, said func(string) string) {
	stderr := a.errOut()
	if known := (*engine.Error)(nil); errors.As(err, &known) && known.Next != "" {
		defer func() { _, _ = fmt.Fprintln(stderr, said(known.Next)) }()
	}
	var problems lynq.Problems
	var badRows *render.BadRowsError
	var failedRows *render.FailedRowsError
	switch {
	case errors.Is(err, engine.ErrReported):
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

func (a *app) rootCommand() *cobra.Command {
	root := cli.Group(&cobra.Command{
		Use:   "lynqctl",
		Short: "Database rows in, Kubernetes resources out",
		Long: `lynqctl renders Kubernetes resources from database rows, without an operator.

A LynqHub says where the rows are, a LynqForm holds the templates, and every
active row makes a node: the resources of one tenant.`,
		Example: `  # A hub and a form for a table, and what they make of its rows
  lynqctl init --source csv:tenants.csv -o forms/
  lynqctl render -f forms/

  # What that would change in a cluster, making it so, and how it is then
  lynqctl diff -f forms/
  lynqctl apply -f forms/
  lynqctl status`,
		Version:       buildVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}, a.deleteCommand(), a.finalizeCommand(), a.statusCommand(), a.initCommand(),
		a.diffCommand(), a.applyCommand(), a.renderCommand(), a.validateCommand(), a.graphCommand(), a.inventoryCommand(), a.orphansCommand(), a.rbacCommand(), a.watchCommand(), a.adoptOperatorCommand(), a.versionCommand())
	a.common.register(root.PersistentFlags())
	if cli.IsPlugin(a.program) {
		cli.AsPlugin(root)
	}
	a.line = &cli.Line{
		Args: a.args, Getenv: a.getenv, OnlySaid: onlySaid(), Known: clusterFlagSet(), Columns: a.columns, NoArgs: noArgs, Check: a.common.check,
	}
	a.line.Govern(root)
	return root
}
