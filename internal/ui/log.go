package ui

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Log writes an engine's notes and a run's events as log records. It is safe for concurrent
// use.
type Log struct {
	to   *slog.Logger
	json bool

	mu sync.Mutex
	// cut has the hubs whose last round was interrupted.
	cut map[string]bool
	// standing has the problems of each hub's nodes that had their records.
	standing map[lynq.HubKey]*standing
	// rounds has the groups of changes in each hub's round.
	rounds map[lynq.HubKey]*roundGroups
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
func NewLogAbove(s *Screen) *Log { return newLog(slog.NewTextHandler(s, nil)) }

// DroppedRecord returns the record about lines of a log that nobody read.
func DroppedRecord(json bool, lines int) []byte {
	var b bytes.Buffer
	h := slog.Handler(slog.NewTextHandler(&b, nil))
	if json {
		h = slog.NewJSONHandler(&b, nil)
	}
	slog.New(h).Warn(phrase.Count(lines, "line")+" dropped while nobody read the log", "lines", lines)
	return b.Bytes()
}

func newLog(h slog.Handler) *Log {
	return &Log{to: slog.New(h), cut: map[string]bool{}, standing: map[lynq.HubKey]*standing{}, rounds: map[lynq.HubKey]*roundGroups{}}
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
		l.node(&e)
	case report.EventLeaving:
		if e.Begins {
			l.to.Info("leaving", l.attributes(&e)...)
		}
	case report.EventWarning:
		if !l.again(&e, "warning", &report.Details{Message: e.Message}) {
			l.to.Warn(e.Message, l.attributes(&report.Event{NodeID: e.NodeID, Details: report.Details{Object: e.Object}})...)
		}
	case report.EventSummary:
		l.summary(e.Summary, e.Time)
	}
}

// node writes why a node failed, unless an earlier try had the same problem.
func (l *Log) node(e *report.Event) {
	if e.Outcome == report.OutcomeInterrupted {
		return
	}
	if e.Outcome != report.OutcomeDone && e.Outcome != report.OutcomeUnchanged && !l.again(e, "node", &e.Details) {
		level := slog.LevelWarn
		if e.Reason == plan.ReasonSuspended { // a person wants that
			level = slog.LevelInfo
		}
		l.to.Log(context.Background(), level, "node", l.attributes(e)...)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of(e.Hub).tried[e.Key()] = true
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
	if level == slog.LevelWarn && l.again(e, "object", &e.Details) || level == slog.LevelInfo && l.folds(e) {
		return
	}
	l.to.Log(context.Background(), level, "object", l.attributes(e)...)
}

// again reports whether a record would repeat what the log says of this node since an
// earlier try, or of other nodes with the same cause. Programs that read JSON get a record
// for each node.
func (l *Log) again(e *report.Event, line string, problem *report.Details) bool {
	if e.Key() == (lynq.NodeKey{}) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	begins, apart := l.of(e.Hub).begins(e.NodeID, line, problem, e.Time)
	return !apart && (!l.json || !begins)
}

// of returns the standing problems of a hub. The caller holds the lock.
func (l *Log) of(hub lynq.HubKey) *standing {
	if l.standing[hub] == nil {
		l.standing[hub] = newStanding()
	}
	return l.standing[hub]
}

// summary writes the result of a round that changed something, that continued an
// interrupted one, or in which a problem began or ended.
func (l *Log) summary(s *report.Summary, now time.Time) {
	done := 0
	for action, n := range s.Actions {
		if action != plan.ActionKeep && action != plan.ActionSkip {
			done += n
		}
	}
	failed := slices.DeleteFunc(slices.Clone(s.Failed), func(n report.NodeResult) bool { return n.Outcome == report.OutcomeInterrupted })
	hubs := make([]string, len(s.Hubs))
	for i, h := range s.Hubs {
		hubs[i] = h.String()
	}
	hub := strings.Join(hubs, ",")
	news := l.causes(s.Hubs, failed, now)
	l.groups(s.Hubs)
	l.mu.Lock()
	wasCut := l.cut[hub]
	l.cut[hub] = s.Interrupted
	l.mu.Unlock()
	if done == 0 && !news && (wasCut == s.Interrupted || len(failed) > 0) {
		return
	}
	took := slog.Duration("took", s.Elapsed)
	if l.json {
		took = slog.Float64("tookSeconds", s.Elapsed.Seconds())
	}
	round := []any{"hub", hub, "changed", done, "failedNodes", len(failed), "interrupted", s.Interrupted}
	for _, a := range actions() {
		if n := s.Actions[a]; n > 0 && changes(a) {
			round = append(round, doneKey(a), n)
		}
	}
	if n := s.Objects[report.OutcomeNotReady]; n > 0 {
		round = append(round, "notReady", n)
	}
	l.to.Info("round", append(round, took)...)
}

// doneKey returns a finished action as the name of an attribute.
func doneKey(a plan.Action) string {
	switch a {
	case plan.ActionRelease:
		return "released"
	case plan.ActionCollect:
		return "collected"
	}
	return done(a)
}

// causes writes a record for each problem that many nodes have, and for each one that
// ended. It reports whether a problem began or ended.
func (l *Log) causes(hubs []lynq.HubKey, failed []report.NodeResult, now time.Time) (news bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, hub := range hubs {
		own := slices.DeleteFunc(slices.Clone(failed), func(n report.NodeResult) bool { return n.Hub != hub })
		common, over, changed := l.of(hub).summary(own, now)
		news = news || changed
		for _, c := range common {
			if !l.json {
				l.to.Warn("cause", "hub", hub.String(), "message", CauseLine(c.why, c.first(), len(c.nodes)))
			}
		}
		for _, c := range over {
			l.to.Info("over", "hub", hub.String(), "message", CauseLine(c.why, c.names, c.most))
		}
	}
	return news
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
