package command

import (
	"cmp"
	"io"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
)

// view is the session's View. It draws on the command's streams with internal/ui.
type view struct {
	*app
	format tty.Format // for the results of a run
	expand ui.Expand
}

// Note implements session.View.
func (v *view) Note(line string) {
	out := v.NoteOut()
	_, _ = io.WriteString(out, out.Fitted(v.World.Secrets.Hide(line))+"\n")
}

// CanAsk implements session.View.
func (v *view) CanAsk() bool { return tty.CanAsk(v.World.Stdin, v.ErrOut()) }

// Attended implements session.View.
func (v *view) Attended() bool { return v.CanAsk() && !tty.InCI(v.World.Getenv) }

// Confirm implements session.View.
func (v *view) Confirm(question string) (bool, error) {
	return tty.Confirm(v.World.Stdin, v.ErrOut(), question)
}

// ConfirmName implements session.View.
func (v *view) ConfirmName(question, name string) (bool, error) {
	return tty.ConfirmName(v.World.Stdin, v.ErrOut(), question, name)
}

// Preview implements session.View.
func (v *view) Preview(plans []plan.Plan) error {
	err := ui.NewReporter(ui.Options{
		Out: v.ErrOut(), Err: tty.Stream{}, Format: tty.Table, DryRun: true,
	}).Plan(plans)
	return cmp.Or(err, ui.PrintPlanFindings(plans, v.ErrOut()))
}

// Count implements session.View.
func (v *view) Count(what string) session.Counter {
	ticker := time.NewTicker(ui.Redraw)
	counting := ui.StartCounting(v.NoteOut(), what, time.Now(), ticker.C)
	if counting == nil {
		ticker.Stop()
		return nil
	}
	return tickingCounter{counting, ticker}
}

// tickingCounter stops its ticker when it stops.
type tickingCounter struct {
	*ui.Counting
	ticker *time.Ticker
}

func (c tickingCounter) Stop() {
	c.ticker.Stop()
	c.Counting.Stop()
}

// Printer implements session.View.
func (v *view) Printer(m session.Mode) session.Printer { return v.reporter(m, nil) }

// Reporter implements session.View.
func (v *view) Reporter(m session.Mode) session.Reporter {
	ticker := time.NewTicker(ui.Redraw)
	return tickingReporter{v.reporter(m, ticker.C), ticker}
}

func (v *view) reporter(m session.Mode, tick <-chan time.Time) *ui.Reporter {
	return ui.NewReporter(ui.Options{
		Out: v.Out(), Err: v.ErrOut(), Format: v.format, Expand: v.expand, Quiet: v.Common.Quiet, DryRun: m != session.ModeRun,
		Summarized: func() { v.summarized = true }, Now: time.Now, Tick: tick,
	})
}

// tickingReporter stops its ticker when it closes.
type tickingReporter struct {
	*ui.Reporter
	ticker *time.Ticker
}

func (r tickingReporter) Close() error {
	r.ticker.Stop()
	return r.Reporter.Close()
}
