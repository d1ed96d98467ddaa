package command

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/chart"
	"github.com/lynqctl/lynqctl/internal/cli"
	"github.com/lynqctl/lynqctl/internal/command/cmdflags"
	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// World is the environment of a command.
type World struct {
	Stdin          io.Reader
	Stdout, Stderr tty.Output
	Getenv         func(string) string
	Program        string // as the user called it
	// Clock returns the time by which rows expire and nodes leave. With nil, Now uses this
	// machine's clock. Only the program sets it.
	Clock func() time.Time
	// Transport carries the requests to clusters. With nil, each cluster has its own.
	Transport http.RoundTripper
	// Secrets hides secret values in every text that leaves.
	Secrets *redact.Filter
	// Memory keeps what earlier commands of this process read from input files. With nil, it
	// keeps nothing.
	Memory *form.Memory
	// Helper builds kustomizations and charts.
	Helper *chart.Helper
}

// app is one command line in its World.
type app struct {
	World   World
	Common  cmdflags.Common
	Version string   // of lynqctl
	args    []string // of the command line, without the program
	line    *cli.Line

	// FromEnvironment names the flags that the environment set, or is "".
	FromEnvironment string

	ran        *cobra.Command
	summarized bool // the events ended with a summary
}

// Now returns the time of the world's clock.
func (a *app) Now() time.Time {
	if a.World.Clock == nil {
		return time.Now()
	}
	return a.World.Clock()
}

// Runs sets the command that runs.
//
// A note names the flags that the environment set, because a forgotten variable changes
// what a run does. A command with a log has the note there.
func (a *app) Runs(cmd *cobra.Command, set string) {
	a.ran = cmd
	if set == "" {
		return
	}
	a.FromEnvironment = "from the environment: " + set
	if cmd.Flags().Lookup("log-format") == nil {
		a.View("").Note(a.FromEnvironment)
	}
}

// invocation returns the command line for histories.
func (a *app) invocation() session.Invocation {
	if a.ran == nil {
		return session.Invocation{}
	}
	path := strings.TrimPrefix(a.ran.CommandPath(), a.ran.Root().CommandPath()+" ")
	return session.Invocation{Command: path, Guards: cmdflags.GuardsOf(a.ran.Flags())}
}

// Out returns standard output.
func (a *app) Out() tty.Stream {
	return tty.NewStream(a.World.Stdout, a.World.Getenv, tty.Color(a.Common.Color))
}

// Columns returns the width of the terminal on standard output, or 0 without a terminal.
func (a *app) Columns() int {
	out := a.Out()
	if out.Size == nil {
		return 0
	}
	columns, _ := out.Size()
	return columns
}

// ErrOut returns standard error. If it contains logged requests, nothing redraws lines on
// it.
func (a *app) ErrOut() tty.Stream {
	s := tty.NewStream(a.World.Stderr, a.World.Getenv, tty.Color(a.Common.Color))
	s.Terminal = s.Terminal && a.Common.Verbosity == 0
	return s
}

// NoteOut returns the stream for warnings and notes: standard error, or nothing with -q.
func (a *app) NoteOut() tty.Stream {
	if a.Common.Quiet {
		return tty.Stream{}
	}
	return a.ErrOut()
}

// requests says how to log requests.
func (a *app) requests() kube.RequestLog {
	return kube.RequestLog{Level: a.Common.Verbosity, Out: a.ErrOut()}
}

// Engine returns an engine whose runs show their results in a format.
func (a *app) Engine(format string) *session.Engine {
	return &session.Engine{
		Stdin: a.World.Stdin, Getenv: a.World.Getenv, Version: a.Version, Clock: a.Now, Requests: a.requests(), Transport: a.World.Transport, Memory: a.World.Memory, Helper: a.World.Helper, Secrets: a.World.Secrets, View: a.View(format), Invocation: a.invocation(),
	}
}

// RunEngine returns an engine for a command that carries out plans.
func (a *app) RunEngine(f *cmdflags.Run) *session.Engine {
	e := a.Engine(f.Output)
	e.View = &view{a, tty.Format(f.Output), f.Expanded}
	return e
}

// View returns a View that shows the results of runs in a format.
func (a *app) View(format string) session.View { return &view{a, tty.Format(format), ui.Expand{}} }

// Muted returns the command line without standard output.
func (a *app) Muted() *app {
	muted := *a
	muted.World.Stdout = tty.Output{}
	return &muted
}

// EndEvents ends the events of a command line with a summary. It does nothing if the user
// asked for no events, or a run wrote the summary. Help isn't a run.
func (a *app) EndEvents(cmd *cobra.Command, interrupted bool, why string) {
	value := func(name string) string {
		if f := cmd.Flags().Lookup(name); f != nil {
			return f.Value.String()
		}
		return ""
	}
	output := cmd.Flags().Lookup("output")
	if a.summarized || output == nil || value("help") == "true" || value("output") != string(tty.JSON) {
		return
	}
	if _, events := output.Annotations[cmdflags.EventStream]; events {
		_ = ui.EndEvents(a.Out(), time.Now(), value("dry-run") != string(session.ModeRun), interrupted, why) // the exit code shows the result
	}
}
