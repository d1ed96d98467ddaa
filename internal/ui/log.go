package ui

import (
	"context"
	"log/slog"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Log writes what happens as records of a log: an engine's notes, and what runs do. It is
// safe for concurrent use.
type Log struct{ to *slog.Logger }

// NewLog makes a log of lines of text, or of JSON, one record a line.
func NewLog(out Stream, json bool) *Log {
	if json {
		return &Log{slog.New(slog.NewJSONHandler(out.Data(), nil))}
	}
	return &Log{slog.New(slog.NewTextHandler(out, nil))}
}

// NewLogAbove makes a log of lines of text above what a screen shows.
func NewLogAbove(s *Screen) *Log { return &Log{slog.New(slog.NewTextHandler(s, nil))} }

// warningPrefix begins notes that are warnings.
const warningPrefix = "warning: "

// Note writes a note; one that begins with "warning: " is a warning.
func (l *Log) Note(line string) {
	if text, warning := strings.CutPrefix(line, warningPrefix); warning {
		l.to.Warn(text)
		return
	}
	l.to.Info(line)
}

// Report implements apply.Reporter.
func (l *Log) Report(e apply.Event) {
	switch e.Type {
	case apply.EventObject:
		l.object(&e)
	case apply.EventNode:
		if e.Outcome != apply.OutcomeDone && e.Outcome != apply.OutcomeUnchanged && e.Outcome != apply.OutcomeInterrupted {
			l.to.Warn("node", l.attributes(&e)...)
		}
	case apply.EventWarning:
		l.to.Warn(e.Message, l.attributes(&apply.Event{Hub: e.Hub, Node: e.Node, Object: e.Object})...)
	case apply.EventSummary:
		l.summary(e.Summary)
	}
}

// object writes what became of an object, unless it was left as it is.
func (l *Log) object(e *apply.Event) {
	level := slog.LevelInfo
	switch e.Outcome {
	case apply.OutcomeDone:
		if e.Action == plan.ActionKeep || e.Action == plan.ActionSkip {
			return
		}
	case apply.OutcomeUnchanged, apply.OutcomeSkipped:
		return
	default:
		level = slog.LevelWarn
	}
	l.to.Log(context.Background(), level, "object", l.attributes(e)...)
}

// summary writes how a round ended in which something was done, or failed.
func (l *Log) summary(s *apply.Summary) {
	done := 0
	for action, n := range s.Actions {
		if action != plan.ActionKeep && action != plan.ActionSkip {
			done += n
		}
	}
	if done == 0 && len(s.Failed) == 0 {
		return
	}
	hubs := make([]string, len(s.Hubs))
	for i, h := range s.Hubs {
		hubs[i] = h.String()
	}
	l.to.Info("round", "hub", strings.Join(hubs, ","), "changed", done, "failedNodes", len(s.Failed), "interrupted", s.Interrupted, "took", s.Elapsed.String())
}

// attributes are those that an event has.
func (*Log) attributes(e *apply.Event) []any {
	var all []any
	add := func(key, value string) {
		if value != "" {
			all = append(all, key, value)
		}
	}
	if e.Hub != (lynq.HubKey{}) {
		add("hub", e.Hub.String())
	}
	if e.Node != (plan.NodeKey{}) {
		add("node", e.Node.String())
	}
	if e.Object != (lynq.Ref{}) {
		add("object", e.Object.String())
	}
	add("action", string(e.Action))
	add("reason", string(e.Reason))
	add("outcome", string(e.Outcome))
	add("message", e.Message)
	return all
}

// Plan implements Printer and Reporter: what is planned is told when it is done.
func (*Log) Plan([]plan.Plan) error { return nil }

// Result implements Reporter.
func (*Log) Result([]plan.Plan) error { return nil }

// Close implements Reporter.
func (*Log) Close() error { return nil }

// Refuse implements Printer.
func (l *Log) Refuse(refusals []plan.Refusal) error {
	for _, r := range refusals {
		l.to.Warn("refused", "hub", r.Hub.String(), "guard", string(r.Guard), "message", r.What, "fix", r.Fix)
	}
	return nil
}
