package ui

import (
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Redraw is the interval of ticks for a Reporter. Its view on a terminal is never older.
const Redraw = 100 * time.Millisecond

// Options say where a Reporter writes, and what.
type Options struct {
	Out, Err tty.Stream
	Format   tty.Format // "" means Table
	Expand   Expand     // the groups of a plan to show step by step
	// Quiet leaves only failures, and omits the table at the end. Events and other formats
	// stay complete.
	Quiet bool
	// DryRun omits changes in progress, because Plan shows them.
	DryRun bool
	// Summarized, if not nil, is called after a summary.
	Summarized func()
	Now        func() time.Time
	// Tick moves the view, and makes a log say what the run waits for. It should tick every
	// Redraw. Without it, a Reporter writes only after events.
	Tick <-chan time.Time
}

// Reporter is a report.Reporter. Only its creator may call the methods other than Report.
type Reporter struct {
	options  Options
	progress progress

	closing sync.Once
	stop    func() // stops reading the time
	err     error  // from closing
}

// progress shows events as they come. Implementations are safe for concurrent use. Every
// event has a time.
type progress interface {
	report(*report.Event)
	tick(now time.Time)
	close() error
}

// NewReporter returns a Reporter, which the caller must close. With the format JSON, it
// writes events to standard output and nothing to standard error. Otherwise it draws a live
// view on standard error, or writes lines without a terminal or with Quiet.
func NewReporter(o Options) *Reporter {
	r := &Reporter{options: o}
	n := newNotes(&o)
	switch {
	case o.Format == tty.JSON:
		r.progress = &events{out: o.Out}
	case o.Err.Terminal && !o.Quiet:
		n.changes = false // the view counts them
		r.progress = &live{out: o.Err, notes: n}
	default:
		r.progress = &lines{out: o.Err, notes: n}
	}
	r.stop = eachTick(o.Tick, r.progress.tick)
	return r
}

// Report shows an event. If the event has no time, Report sets the current one. It is safe
// for concurrent use. Nobody may call it after Close.
func (r *Reporter) Report(e report.Event) {
	if e.Time.IsZero() {
		e.Time = r.options.Now()
	}
	r.progress.report(&e)
	if e.Type == report.EventSummary && r.options.Summarized != nil {
		r.options.Summarized()
	}
}

// Close ends the progress, removes the view, and restores the terminal. It returns an error
// if events couldn't be written, because standard output must be complete. It ignores
// errors of progress. Further calls do nothing, and return the same.
func (r *Reporter) Close() error {
	r.closing.Do(func() {
		r.stop()
		r.err = r.progress.close()
	})
	return r.err
}

// Result closes the Reporter, and prints the report of a run. The report is empty if
// nothing changed and nothing failed. After a dry run, it is the plan, with the server's
// answers. With the format JSON, the events were the report.
func (r *Reporter) Result(of *report.Result) error {
	if err := r.Close(); err != nil || r.options.Format == tty.JSON {
		return err
	}
	if of.Summary.DryRun {
		return r.plan(of)
	}
	if r.options.Quiet && (r.options.Format == tty.Table || r.options.Format == "") {
		return nil // the progress showed the failures
	}
	text, err := resultText(results(of), of.Summary, r.options.Format, r.options.Out)
	return r.options.Out.WriteText("report", r.options.Format, text, err)
}

// Plan closes the Reporter, and prints what plans would do. With the format JSON, it writes
// an event for each plan and step, and a summary.
func (r *Reporter) Plan(plans []plan.Plan) error {
	of := report.Planned(plans)
	if r.options.Format == tty.JSON {
		r.planEvents(plans)
		r.Report(report.Event{Type: report.EventSummary, Summary: of.Summary})
		return r.Close()
	}
	for i := range plans {
		r.leavingEvents(&plans[i])
	}
	if err := r.Close(); err != nil {
		return err
	}
	return r.plan(of)
}

func (r *Reporter) plan(of *report.Result) error {
	text, err := planText(results(of), r.options.Format, r.options.Expand, r.options.Out)
	return r.options.Out.WriteText("plan", r.options.Format, text, err)
}

// Refuse closes the Reporter, and prints refusals. With the format JSON, it writes events,
// otherwise lines on standard error.
func (r *Reporter) Refuse(refusals []plan.Refusal) error {
	if stream, ok := r.progress.(*events); ok {
		for _, one := range refusals {
			stream.write(refusal(one, r.options.Now()))
		}
		r.Report(report.Event{Type: report.EventSummary, Details: report.Details{Message: "refused by a guard; nothing changed"}, Summary: &report.Summary{DryRun: r.options.DryRun}})
		return r.Close()
	}
	err := r.Close()
	for _, one := range refusals {
		_, writeErr := io.WriteString(r.options.Err, r.options.Err.Fitted(refusalText(one, r.options.Err.Paint())))
		err = errors.Join(err, writeErr)
	}
	return err
}

// planEvents reports the plans as events, because no run did.
func (r *Reporter) planEvents(plans []plan.Plan) {
	for i := range plans {
		planned, nodes := &plans[i], results(report.Planned(plans[i:i+1]))
		event := report.Event{Type: report.EventPlan, NodeID: lynq.NodeID{Hub: planned.Hub}, Counts: planned.Counts, AdoptedCounts: planned.Adopted, Evidence: planned.Evidence}
		for j := range nodes {
			if n := &nodes[j]; n.outcome == report.OutcomeFailed || n.hasWork() {
				event.Nodes++
			}
		}
		r.Report(event)
		for j := range nodes {
			r.stepEvents(&nodes[j])
		}
		r.leavingEvents(planned)
	}
}

// leavingEvents reports the nodes in their grace period.
func (r *Reporter) leavingEvents(p *plan.Plan) {
	for i := range p.Leaving {
		l := &p.Leaving[i]
		id := l.NodeID
		id.Hub = p.Hub // a record may lack the hub
		r.Report(report.Event{Type: report.EventLeaving, NodeID: id, Since: l.Since, Until: l.Until, Begins: l.Begins, Details: report.Details{Message: report.LeavingText(l)}})
	}
}

func (r *Reporter) stepEvents(n *nodeResult) {
	for _, s := range n.steps {
		r.Report(report.Event{Type: report.EventObject, NodeID: n.NodeID, Details: s})
	}
	if n.outcome == report.OutcomeFailed {
		r.Report(report.Event{Type: report.EventNode, NodeID: n.NodeID, Details: report.Details{Outcome: n.outcome, Message: strings.Join(n.problems, "\n")}})
	}
}
