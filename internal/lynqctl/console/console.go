package console

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/lynqctl/cmdflags"
	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
)

// World is the outside world of a command.
type World struct {
	Stdin          io.Reader
	Stdout, Stderr tty.Output
	Getenv         func(string) string
	Program        string // as it was called
	// Clock tells the time by which rows expire and nodes leave; nil is this machine's clock.
	// Nothing outside of the program sets it.
	Clock func() time.Time
	// Transport carries the requests to clusters; nil is one of its own for each cluster.
	Transport http.RoundTripper
}

// Console is what the command of one command line talks to.
type Console struct {
	World   World
	Common  cmdflags.Common
	Version string // of lynqctl

	ran        *cobra.Command
	summarized bool // events ended with a summary
}

// Now is the time by the world's clock.
func (c *Console) Now() time.Time {
	if c.World.Clock == nil {
		return time.Now()
	}
	return c.World.Clock()
}

// Runs says which command runs.
func (c *Console) Runs(cmd *cobra.Command) { c.ran = cmd }

// invocation is the command line, as histories record it.
func (c *Console) invocation() session.Invocation {
	if c.ran == nil {
		return session.Invocation{}
	}
	path := strings.TrimPrefix(c.ran.CommandPath(), c.ran.Root().CommandPath()+" ")
	return session.Invocation{Command: path, Guards: cmdflags.GuardsOf(c.ran.Flags())}
}

// Out is standard output, and what can be done with it.
func (c *Console) Out() tty.Stream {
	return tty.NewStream(c.World.Stdout, c.World.Getenv, tty.Color(c.Common.Color))
}

// Columns returns the width of the terminal on standard output, 0 if there is none.
func (c *Console) Columns() int {
	out := c.Out()
	if out.Size == nil {
		return 0
	}
	columns, _ := out.Size()
	return columns
}

// ErrOut is standard error. Nothing is redrawn on it where requests are logged there.
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

// requests says how requests are logged.
func (c *Console) requests() kube.RequestLog {
	return kube.RequestLog{Level: c.Common.Verbosity, Out: c.ErrOut()}
}

// Engine makes an engine whose runs show their results in a format.
func (c *Console) Engine(format string) *session.Engine {
	return &session.Engine{
		Stdin: c.World.Stdin, Getenv: c.World.Getenv, Version: c.Version, Clock: c.Now, Requests: c.requests(), Transport: c.World.Transport, View: c.View(format), Invocation: c.invocation(),
	}
}

// View shows the results of runs in a format.
func (c *Console) View(format string) session.View { return &view{c, tty.Format(format)} }

// Muted is a console that has no standard output.
func (c *Console) Muted() *Console {
	muted := *c
	muted.World.Stdout = tty.Output{}
	return &muted
}

// EndEvents ends the events of a command line with a summary, where it asked for some
// and no run has told one. Help is no run.
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
		_ = ui.EndEvents(c.Out(), time.Now(), value("dry-run") != string(session.ModeRun), interrupted, why) // the exit code says how it ended
	}
}
