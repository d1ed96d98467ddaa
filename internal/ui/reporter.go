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

// Redraw is how often a Reporter wants to be ticked: what it shows on a
// terminal is as old as that at most.
const Redraw = 100 * time.Millisecond

// Options say where a Reporter writes, and what.
type Options struct {
	Out, Err tty.Stream
	Format   tty.Format // "" is Table
	// Quiet leaves all out but failures, also the table in the end. Events and what
	// other formats have are no progress.
	Quiet bool
	// DryRun leaves out what changes as it goes; Plan tells it.
	DryRun bool
	// Summarized, where it is not nil, is called when a summary was told.
	Summarized func()
	Now        func() time.Time
	// Tick makes the view move and has a log told what is waited for: a ticker
	// of Redraw. Without it nothing is told but as events come.
	Tick <-chan time.Time
}

// Reporter is a report.Reporter. Its methods but Report are for the one who
// made it.
type Reporter struct {
	options  Options
	progress progress

	closing sync.Once
	stop    func() // telling what time it is
	err     error  // of closing
}

// progress is a way of telling events as they come. All is safe for concurrent
// use; an event has a time.
type progress interface {
	report(*report.Event)
	tick(now time.Time)
	close() error
}

// NewReporter starts to report. Close must follow. With format JSON events go to
// standard output and nothing to standard error; else a live view, or lines
// where there is no terminal or Quiet, go to standard error.
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
	r.stop = eachTick(o.Tick, func(time.Time) { r.progress.tick(o.Now()) })
	return r
}

// Report takes note of an event, and shows it. An event without a time is one
// of now. It is safe for concurrent use, and must not follow Close.
func (r *Reporter) Report(e report.Event) {
	if e.Time.IsZero() {
		e.Time = r.options.Now()
	}
	r.progress.report(&e)
	if e.Type == report.EventSummary && r.options.Summarized != nil {
		r.options.Summarized()
	}
}

// Close ends progress: the view goes, and the terminal is as it was. The error
// is that of writing events, for which standard output is needed whole; that of
// progress is none. Further calls do nothing, and return the same.
func (r *Reporter) Close() error {
	r.closing.Do(func() {
		r.stop()
		r.err = r.progress.close()
	})
	return r.err
}

// Result closes, and prints the report of a run. A run that changed nothing and ended
// well has an empty one; that of a dry run is the plan, with what the server says of it.
// With format JSON the events were the report.
func (r *Reporter) Result(of *report.Result) error {
	if err := r.Close(); err != nil || r.options.Format == tty.JSON {
		return err
	}
	if of.Summary.DryRun {
		return r.plan(of)
	}
	if r.options.Quiet && (r.options.Format == tty.Table || r.options.Format == "") {
		return nil // failures have been told
	}
	text, err := resultText(results(of), of.Summary, r.options.Format, r.options.Out)
	return r.options.Out.WriteText("report", r.options.Format, text, err)
}

// Plan closes, and prints what plans would do. With format JSON that is a plan
// event for each, an object event per step and a summary.
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
	text, err := planText(results(of), r.options.Format, r.options.Out)
	return r.options.Out.WriteText("plan", r.options.Format, text, err)
}

// Refuse closes, and tells why plans must not run: as events with format JSON,
// else on standard error.
func (r *Reporter) Refuse(refusals []plan.Refusal) error {
	if stream, ok := r.progress.(*events); ok {
		for _, one := range refusals {
			stream.write(refusal(one, r.options.Now()))
		}
		r.Report(report.Event{Type: report.EventSummary, Message: "refused by a guard; nothing changed", Summary: &report.Summary{DryRun: r.options.DryRun}})
		return r.Close()
	}
	err := r.Close()
	for _, one := range refusals {
		_, writeErr := io.WriteString(r.options.Err, r.options.Err.Fitted(refusalText(one, r.options.Err.Paint())))
		err = errors.Join(err, writeErr)
	}
	return err
}

// planEvents reports what no run has reported.
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

// leavingEvents reports the nodes that are kept for their grace period.
func (r *Reporter) leavingEvents(p *plan.Plan) {
	for i := range p.Leaving {
		l := &p.Leaving[i]
		id := l.NodeID
		id.Hub = p.Hub // which a record may not say
		r.Report(report.Event{Type: report.EventLeaving, NodeID: id, Since: l.Since, Until: l.Until, Begins: l.Begins, Message: report.LeavingText(l)})
	}
}

func (r *Reporter) stepEvents(n *nodeResult) {
	for _, s := range n.steps {
		r.Report(report.Event{
			Type: report.EventObject, NodeID: n.NodeID, Object: s.object, ID: s.id,
			Action: s.action, Reason: s.reason, Message: s.message, Adopted: s.adopted,
		})
	}
	if n.outcome == report.OutcomeFailed {
		r.Report(report.Event{Type: report.EventNode, NodeID: n.NodeID, Outcome: n.outcome, Message: strings.Join(n.problems, "\n")})
	}
}
