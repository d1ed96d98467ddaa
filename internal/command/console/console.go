package console

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/chart"

	"github.com/spf13/cobra"

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

// Console is the interface between a command and its World.
type Console struct {
	World   World
	Common  cmdflags.Common
	Version string // of lynqctl

	// FromEnvironment names the flags that the environment set, or is "".
	FromEnvironment string

	ran        *cobra.Command
	summarized bool // the events ended with a summary
}

// Now returns the time of the world's clock.
func (c *Console) Now() time.Time {
	if c.World.Clock == nil {
		return time.Now()
	}
	return c.World.Clock()
}

// Runs sets the command that runs.
//
// A note names the flags that the environment set, because a forgotten variable changes
// what a run does. A command with a log has the note there.
func (c *Console) Runs(cmd *cobra.Command, set string) {
	c.ran = cmd
	if set == "" {
		return
	}
	c.FromEnvironment = "from the environment: " + set
	if cmd.Flags().Lookup("log-format") == nil {
		c.View("").Note(c.FromEnvironment)
	}
}

// invocation returns the command line for histories.
func (c *Console) invocation() session.Invocation {
	if c.ran == nil {
		return session.Invocation{}
	}
	path := strings.TrimPrefix(c.ran.CommandPath(), c.ran.Root().CommandPath()+" ")
	return session.Invocation{Command: path, Guards: cmdflags.GuardsOf(c.ran.Flags())}
}

// Out returns standard output.
func (c *Console) Out() tty.Stream {
	return tty.NewStream(c.World.Stdout, c.World.Getenv, tty.Color(c.Common.Color))
}

// Columns returns the width of the terminal on standard output, or 0 without a terminal.
func (c *Console) Columns() int {
	out := c.Out()
	if out.Size == nil {
		return 0
	}
	columns, _ := out.Size()
	return columns
}

// ErrOut returns standard error. If it contains logged requests, nothing redraws lines on
// it.
func (c *Console) ErrOut() tty.Stream {
	s := tty.NewStream(c.World.Stderr, c.World.Getenv, tty.Color(c.Common.Color))
	s.Terminal = s.Terminal && c.Common.Verbosity == 0
	return s
}

// NoteOut returns the stream for warnings and notes: standard error, or nothing with -q.
func (c *Console) NoteOut() tty.Stream {
	if c.Common.Quiet {
		return tty.Stream{}
	}
	return c.ErrOut()
}

// requests says how to log requests.
func (c *Console) requests() kube.RequestLog {
	return kube.RequestLog{Level: c.Common.Verbosity, Out: c.ErrOut()}
}

// Engine returns an engine whose runs show their results in a format.
func (c *Console) Engine(format string) *session.Engine {
	return &session.Engine{
		Stdin: c.World.Stdin, Getenv: c.World.Getenv, Version: c.Version, Clock: c.Now, Requests: c.requests(), Transport: c.World.Transport, Memory: c.World.Memory, Helper: c.World.Helper, Secrets: c.World.Secrets, View: c.View(format), Invocation: c.invocation(),
	}
}

// RunEngine returns an engine for a command that carries out plans.
func (c *Console) RunEngine(f *cmdflags.Run) *session.Engine {
	e := c.Engine(f.Output)
	e.View = &view{c, tty.Format(f.Output), f.Expanded}
	return e
}

// View returns a View that shows the results of runs in a format.
func (c *Console) View(format string) session.View { return &view{c, tty.Format(format), ui.Expand{}} }

// Muted returns a console without standard output.
func (c *Console) Muted() *Console {
	muted := *c
	muted.World.Stdout = tty.Output{}
	return &muted
}

// EndEvents ends the events of a command line with a summary. It does nothing if the user
// asked for no events, or a run wrote the summary. Help isn't a run.
func (c *Console) EndEvents(cmd *cobra.Command, interrupted bool, why string) {
	value := func(name string) string {
		if f := cmd.Flags().Lookup(name); f != nil {
			return f.Value.String()
		}
		return ""
	}
	output := cmd.Flags().Lookup("output")
	if c.summarized || output == nil || value("help") == "true" || value("output") != string(tty.JSON) {
		return
	}
	if _, events := output.Annotations[cmdflags.EventStream]; events {
		_ = ui.EndEvents(c.Out(), time.Now(), value("dry-run") != string(session.ModeRun), interrupted, why) // the exit code shows the result
	}
}
