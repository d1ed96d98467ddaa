package lynqctl

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

// console is the session's View: the command's streams, and what internal/ui draws on
// them.
type console struct {
	app    *app
	format tty.Format // of a run's results
}

// engine makes an engine whose runs show their results in a format.
func (a *app) engine(format string) *session.Engine {
	return &session.Engine{Stdin: a.Stdin, Getenv: a.Getenv, Version: buildVersion(), Requests: a.requests(), Transport: a.Transport, View: &console{a, tty.Format(format)}}
}

// Note implements session.View.
func (c *console) Note(line string) { _, _ = io.WriteString(c.app.noteOut(), line+"\n") }

// CanAsk implements session.View.
func (c *console) CanAsk() bool { return tty.CanAsk(c.app.Stdin, c.app.errOut()) }

// Attended implements session.View.
func (c *console) Attended() bool { return c.CanAsk() && !tty.InCI(c.app.Getenv) }

// Confirm implements session.View.
func (c *console) Confirm(question string) (bool, error) {
	return tty.Confirm(c.app.Stdin, c.app.errOut(), question)
}

// ConfirmName implements session.View.
func (c *console) ConfirmName(question, name string) (bool, error) {
	return tty.ConfirmName(c.app.Stdin, c.app.errOut(), question, name)
}

// Preview implements session.View.
func (c *console) Preview(plans []plan.Plan) error {
	return ui.NewReporter(ui.Options{
		Out: c.app.errOut(), Err: tty.Stream{}, Format: tty.Table, DryRun: true,
	}).Plan(plans)
}

// Count implements session.View.
func (c *console) Count(what string) session.Counter {
	ticker := time.NewTicker(ui.Redraw)
	counting := ui.StartCounting(c.app.noteOut(), what, time.Now(), ticker.C)
	if counting == nil {
		ticker.Stop()
		return nil
	}
	return tickingCounter{counting, ticker}
}

// tickingCounter ends its ticker when it stops.
type tickingCounter struct {
	*ui.Counting
	ticker *time.Ticker
}

func (c tickingCounter) Stop() {
	c.ticker.Stop()
	c.Counting.Stop()
}

// Printer implements session.View.
func (c *console) Printer(m session.Mode) session.Printer { return c.reporter(m, nil) }

// Reporter implements session.View.
func (c *console) Reporter(m session.Mode) session.Reporter {
	ticker := time.NewTicker(ui.Redraw)
	return tickingReporter{c.reporter(m, ticker.C), ticker}
}

func (c *console) reporter(m session.Mode, tick <-chan time.Time) *ui.Reporter {
	return ui.NewReporter(ui.Options{
		Out: c.app.out(), Err: c.app.errOut(), Format: c.format, Quiet: c.app.common.quiet, DryRun: m != session.ModeRun,
		Summarized: func() { c.app.summarized = true }, Now: time.Now, Tick: tick,
	})
}

// endEvents ends the events of a command line with a summary, where it asked for some
// and no run has told one. Help is no run.
func (a *app) endEvents(cmd *cobra.Command, code int, why string) {
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
	if _, events := output.Annotations[eventStream]; events {
		_ = ui.EndEvents(a.out(), time.Now(), value("dry-run") != string(session.ModeRun), code == exitInterrupted, why) // the exit code says how it ended
	}
}

// tickingReporter ends its ticker when it is closed.
type tickingReporter struct {
	*ui.Reporter
	ticker *time.Ticker
}

func (r tickingReporter) Close() error {
	r.ticker.Stop()
	return r.Reporter.Close()
}
