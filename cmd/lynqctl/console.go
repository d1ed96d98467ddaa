package main

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/engine"
)

// console is the engine's View: the command's streams, and what internal/ui draws on
// them.
type console struct {
	*app
	format ui.Format // of a run's results
}

// engine makes an engine whose runs show their results in a format.
func (a *app) engine(format string) *engine.Engine {
	return &engine.Engine{Stdin: a.stdin, Getenv: a.getenv, Version: buildVersion(), Requests: a.requests(), View: &console{a, ui.Format(format)}}
}

// Note implements engine.View.
func (c *console) Note(line string) { _, _ = io.WriteString(c.noteOut(), line+"\n") }

// CanAsk implements engine.View.
func (c *console) CanAsk() bool { return ui.CanAsk(c.stdin, c.errOut()) }

// Attended implements engine.View.
func (c *console) Attended() bool { return c.CanAsk() && !ui.InCI(c.getenv) }

// Confirm implements engine.View.
func (c *console) Confirm(question string) (bool, error) {
	return ui.Confirm(c.stdin, c.errOut(), question)
}

// ConfirmName implements engine.View.
func (c *console) ConfirmName(question, name string) (bool, error) {
	return ui.ConfirmName(c.stdin, c.errOut(), question, name)
}

// Preview implements engine.View.
func (c *console) Preview(plans []plan.Plan) error {
	return ui.NewReporter(ui.Options{
		Out: c.errOut(), Err: ui.Stream{}, Format: ui.Table, DryRun: true,
	}).Plan(plans)
}

// Count implements engine.View.
func (c *console) Count(what string) engine.Counter {
	ticker := time.NewTicker(ui.Redraw)
	counting := ui.StartCounting(c.noteOut(), what, time.Now(), ticker.C)
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

// Printer implements engine.View.
func (c *console) Printer(m engine.Mode) engine.Printer { return c.reporter(m, nil) }

// Reporter implements engine.View.
func (c *console) Reporter(m engine.Mode) engine.Reporter {
	ticker := time.NewTicker(ui.Redraw)
	return tickingReporter{c.reporter(m, ticker.C), ticker}
}

func (c *console) reporter(m engine.Mode, tick <-chan time.Time) *ui.Reporter {
	return ui.NewReporter(ui.Options{
		Out: c.out(), Err: c.errOut(), Format: c.format, Quiet: c.common.quiet, DryRun: m != engine.ModeRun,
		Summarized: func() { c.summarized = true }, Now: time.Now, Tick: tick,
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
	if a.summarized || output == nil || value("help") == "true" || value("output") != string(ui.JSON) {
		return
	}
	if _, events := output.Annotations[eventStream]; events {
		_ = ui.EndEvents(a.out(), time.Now(), value("dry-run") != string(engine.ModeRun), code == exitInterrupted, why) // the exit code says how it ended
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
