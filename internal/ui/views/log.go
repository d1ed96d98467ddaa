package views

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Log writes an engine's notes and a run's events as log records. It is safe for concurrent
// use.
type Log struct {
	to   *slog.Logger
	json bool

	mu sync.Mutex
	// cut has the hubs whose last round was interrupted.
	cut map[string]bool
	// repeats has the problems in each hub's round that had their records.
	repeats map[lynq.HubKey]*ui.Repeats
}

// NewLog returns a log with lines of text, or with one JSON record per line.
func NewLog(out tty.Stream, json bool) *Log {
	if json {
		l := newLog(slog.NewJSONHandler(out.Data(), nil))
		l.json = true
		return l
	}
	return newLog(slog.NewTextHandler(out, nil))
}

// NewLogAbove returns a log with lines of text above a screen's list.
func NewLogAbove(s *ui.Screen) *Log { return newLog(slog.NewTextHandler(s, nil)) }

func newLog(h slog.Handler) *Log {
	return &Log{to: slog.New(h), cut: map[string]bool{}, repeats: map[lynq.HubKey]*ui.Repeats{}}
}

// warningPrefix begins notes that are warnings.
const warningPrefix = "warning: "

// Note writes a note. If it begins with "warning: ", it is a warning.
func (l *Log) Note(line string) {
	if text, warning := strings.CutPrefix(line, warningPrefix); warning {
		l.to.Warn(text)
		return
	}
	l.to.Info(line)
}

// Report implements report.Reporter.
func (l *Log) Report(e report.Event) {
	switch e.Type {
	case report.EventObject:
		l.object(&e)
	case report.EventNode:
		if e.Outcome != report.OutcomeDone && e.Outcome != report.OutcomeUnchanged && e.Outcome != report.OutcomeInterrupted && !l.again(&e, e.Message) {
			l.to.Warn("node", l.attributes(&e)...)
		}
	case report.EventLeaving:
		if e.Begins {
			l.to.Info("leaving", l.attributes(&e)...)
		}
	case report.EventWarning:
		l.to.Warn(e.Message, l.attributes(&report.Event{NodeID: e.NodeID, Object: e.Object})...)
	case report.EventSummary:
		l.summary(e.Summary)
	}
}

// object writes the result of an object's step, unless the object is unchanged. If an
// interruption ended a wait, the next round waits for the object, so object writes nothing.
func (l *Log) object(e *report.Event) {
	level := slog.LevelInfo
	switch e.Outcome {
	case report.OutcomeNotReady:
		if e.Interrupted && e.Action == plan.ActionKeep {
			return
		}
		if !e.Interrupted {
			level = slog.LevelWarn
		}
	case report.OutcomeDone:
		if e.Action == plan.ActionKeep || e.Action == plan.ActionSkip {
			return
		}
	case report.OutcomeUnchanged, report.OutcomeSkipped:
		return
	default:
		level = slog.LevelWarn
	}
	if level == slog.LevelWarn && l.again(e, e.Object.String()+": "+e.Message) {
		return
	}
	l.to.Log(context.Background(), level, "object", l.attributes(e)...)
}

// again reports whether a record would repeat what the log says of other nodes in this
// round. Programs that read JSON get every record.
func (l *Log) again(e *report.Event, problem string) bool {
	if l.json {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.repeats[e.Hub] == nil {
		l.repeats[e.Hub] = &ui.Repeats{}
	}
	return l.repeats[e.Hub].Again(e.NodeID, problem)
}

// summary writes the result of a round that changed something, failed, or continued an
// interrupted one.
func (l *Log) summary(s *report.Summary) {
	done, failed := 0, 0
	for action, n := range s.Actions {
		if action != plan.ActionKeep && action != plan.ActionSkip {
			done += n
		}
	}
	for _, n := range s.Failed {
		if n.Outcome != report.OutcomeInterrupted {
			failed++
		}
	}
	hubs := make([]string, len(s.Hubs))
	for i, h := range s.Hubs {
		hubs[i] = h.String()
	}
	hub := strings.Join(hubs, ",")
	l.mu.Lock()
	wasCut := l.cut[hub]
	l.cut[hub] = s.Interrupted
	for _, h := range s.Hubs {
		delete(l.repeats, h)
	}
	l.mu.Unlock()
	if done+failed == 0 && wasCut == s.Interrupted {
		return
	}
	l.causes(hub, s.Failed)
	took := slog.Duration("took", s.Elapsed)
	if l.json {
		took = slog.Float64("tookSeconds", s.Elapsed.Seconds())
	}
	l.to.Info("round", "hub", hub, "changed", done, "failedNodes", failed, "interrupted", s.Interrupted, took)
}

// causes writes a record for each problem that many nodes of a round have.
func (l *Log) causes(hub string, failed []report.NodeResult) {
	if l.json {
		return
	}
	failed = slices.DeleteFunc(slices.Clone(failed), func(n report.NodeResult) bool { return n.Outcome == report.OutcomeInterrupted })
	for _, cause := range ui.Causes(failed) {
		l.to.Warn("cause", "hub", hub, "message", cause)
	}
}

// attributes returns the attributes of an event.
func (*Log) attributes(e *report.Event) []any {
	var all []any
	add := func(key, value string) {
		if value != "" {
			all = append(all, key, value)
		}
	}
	if e.Hub != (lynq.HubKey{}) {
		add("hub", e.Hub.String())
	}
	if node := e.Key(); node != (lynq.NodeKey{}) {
		add("node", node.String())
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

// Plan implements Printer. It writes nothing, because the log has each change when it
// happens.
func (*Log) Plan([]plan.Plan) error { return nil }

// Result implements Reporter.
func (*Log) Result(*report.Result) error { return nil }

// Close implements Reporter.
func (*Log) Close() error { return nil }

// Refuse implements Printer.
func (l *Log) Refuse(refusals []plan.Refusal) error {
	for _, r := range refusals {
		l.to.Warn("refused", "hub", r.Hub.String(), "guard", string(r.Guard), "message", r.What, "fix", r.Fix)
	}
	return nil
}
