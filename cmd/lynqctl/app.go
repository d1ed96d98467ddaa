package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// app is the outside world of a command.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	args           []string // of the command line
	program        string   // as it was called
}

// Exit codes (contract: commands). Without one of its own an error is a wrong
// use of the command line, for those are cobra's.
const (
	exitOK          = 0
	exitFailed      = 1 // something failed; the rest was done
	exitBadInput    = 2 // nothing was touched
	exitRefused     = 3 // by a guard; nothing was touched
	exitChanged     = 4 // all is well, and the output changed: for those who asked
	exitInterrupted = 130
)

// exitError is an error that knows its exit code.
type exitError struct {
	code    int
	err     error
	summary string // last line for the person; "" where the error says it all
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// errSaid is an error that has been told already.
var errSaid = errors.New("see above")

// run runs one command line and gives the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	a.args = args
	cmd := a.rootCommand()
	if completing(args) {
		a.registerCompletions(cmd)
	}
	cmd.SetArgs(args)
	cmd.SetIn(a.stdin)
	cmd.SetOut(a.stdout)
	cmd.SetErr(a.stderr)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code, summary := classify(ctx, err)
	if isPlugin(a.program) {
		summary = calls(cmd).ReplaceAllString(summary, pluginCall)
	}
	a.explain(err, summary)
	return code
}

// classify is the one place that makes an exit code of an error.
func classify(ctx context.Context, err error) (code int, summary string) {
	var known *exitError
	switch {
	case errors.Is(context.Cause(ctx), context.Canceled):
		return exitInterrupted, "interrupted"
	case errors.As(err, &known):
		return known.code, known.summary
	}
	return exitBadInput, "run 'lynqctl --help' for the commands, 'lynqctl COMMAND --help' for the flags of one"
}

// explain prints an error: problems with their places as they are, one a line,
// anything else as "error: ...".
func (a *app) explain(err error, summary string) {
	var problems lynq.Problems
	var badRows *render.BadRowsError
	var failedRows *render.FailedRowsError
	switch {
	case errors.Is(err, errSaid):
		if summary != "" {
			_, _ = fmt.Fprintln(a.stderr, "error:", summary)
		}
	case errors.As(err, &problems), errors.As(err, &badRows), errors.As(err, &failedRows):
		_, _ = fmt.Fprintln(a.stderr, err)
		if summary != "" {
			_, _ = fmt.Fprintln(a.stderr, "error:", summary)
		}
	case errors.Is(err, context.Canceled):
		_, _ = fmt.Fprintln(a.stderr, "error:", summary)
	default:
		_, _ = fmt.Fprintln(a.stderr, "error:", err)
		if summary != "" {
			_, _ = fmt.Fprintln(a.stderr, summary)
		}
	}
}

// warn prints things that are no errors, yet worth a look.
func (a *app) warn(problems lynq.Problems) {
	for _, p := range problems.Sorted() {
		_, _ = fmt.Fprintln(a.stderr, "warning:", p)
	}
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "lynqctl",
		Short: "Database rows in, Kubernetes resources out",
		Long: `lynqctl renders Kubernetes resources from database rows, without an operator.

A LynqHub says where the rows are, a LynqForm holds the templates, and every
active row makes a node: the resources of one tenant.`,
		Version:       buildVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(a.deleteCommand(), a.finalizeCommand(), a.statusCommand(), a.initCommand())
	root.AddCommand(a.diffCommand(), a.applyCommand(), a.renderCommand(), a.validateCommand(), a.graphCommand(), a.inventoryCommand(), a.orphansCommand(), a.versionCommand())
	if isPlugin(a.program) {
		asPlugin(root)
	}
	strictWords(root)
	return root
}

// strictWords makes cobra's own commands refuse words that they do not know,
// instead of printing help and succeeding.
func strictWords(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				if _, rest, err := root.Find(args); err != nil || len(rest) > 0 {
					return fmt.Errorf("there is no command %q", strings.Join(args, " "))
				}
				return nil
			}
		case "completion":
			c.RunE = func(cmd *cobra.Command, args []string) error {
				if len(args) > 0 {
					return badUsage(fmt.Errorf("no completion for %q (there is bash, zsh, fish and powershell)", args[0]))
				}
				return cmd.Help()
			}
		}
	}
}
