package ui

import (
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// schemaVersion is the version of the events. It changes only if a field gets another
// meaning.
const schemaVersion = 1

// eventRefusal is the event that Refuse writes. No run begins, so only the summary follows.
const eventRefusal report.EventType = "refusal"

// eventTime is RFC 3339 in UTC with milliseconds, always with the same length.
const eventTime = "2006-01-02T15:04:05.000Z"

// wireEvent is an event for scripts. docs/events.md promises its names and meanings: new
// fields may come, but none changes.
type wireEvent struct {
	Type          report.EventType `json:"type"`
	SchemaVersion int              `json:"schemaVersion"`
	Time          string           `json:"time"`
	hubFields
	Node      string `json:"node,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	detailFields
	Nodes         *int                `json:"nodes,omitempty"`
	Counts        map[plan.Action]int `json:"counts,omitempty"`
	AdoptedCounts map[plan.Action]int `json:"adoptedCounts,omitempty"`
	Since         string              `json:"since,omitempty"`
	Until         string              `json:"until,omitempty"`
	Evidence      *wireEvidence       `json:"evidence,omitempty"`
	Summary       *wireSummary        `json:"summary,omitempty"`
}

type wireSummary struct {
	Hubs           []string               `json:"hubs,omitempty"`
	Nodes          map[report.Outcome]int `json:"nodes"`
	Objects        map[report.Outcome]int `json:"objects"`
	Actions        map[plan.Action]int    `json:"actions"`
	AdoptedActions map[plan.Action]int    `json:"adoptedActions,omitempty"`
	Failed         []wireFailed           `json:"failed,omitempty"`
	Unready        []wireUnready          `json:"unready,omitempty"`
	Leaving        int                    `json:"leaving,omitempty"`
	DryRun         bool                   `json:"dryRun,omitempty"`
	Interrupted    bool                   `json:"interrupted,omitempty"`
	ElapsedSeconds float64                `json:"elapsedSeconds"`
}

type wireFailed struct {
	Node      string `json:"node"`
	Namespace string `json:"namespace"`
	hubFields
	Form     string         `json:"form,omitempty"`
	Outcome  report.Outcome `json:"outcome"`
	Problems []string       `json:"problems,omitempty"`
	Next     string         `json:"next,omitempty"`
}

type wireUnready struct {
	Node      string `json:"node"`
	Namespace string `json:"namespace"`
	objectFields
	Message string `json:"message"`
	Ready   bool   `json:"ready,omitempty"`
}

func wire(e *report.Event) *wireEvent {
	w := &wireEvent{
		Type:          e.Type,
		SchemaVersion: schemaVersion,
		Time:          e.Time.UTC().Format(eventTime),
		hubFields:     hubFieldsOf(e.Hub),
		Node:          e.Name,
		Namespace:     e.Namespace,
		detailFields:  detailFieldsOf(&e.Details),
		Counts:        e.Counts,
		AdoptedCounts: e.AdoptedCounts,
		Evidence:      evidenceOf(e.Evidence),
		Summary:       wireOf(e.Summary),
	}
	if e.Type == report.EventLeaving {
		w.Since, w.Until = e.Since.UTC().Format(eventTime), e.Until.UTC().Format(eventTime)
	}
	if e.Type == report.EventPlan {
		w.Nodes = &e.Nodes // 0 is information, too
	}
	return w
}

func wireOf(s *report.Summary) *wireSummary {
	if s == nil {
		return nil
	}
	w := &wireSummary{
		Hubs:           hubNames(s.Hubs),
		Nodes:          orEmpty(s.Nodes),
		Objects:        orEmpty(s.Objects),
		Actions:        orEmpty(s.Actions),
		AdoptedActions: s.Adopted,
		Leaving:        s.Leaving,
		DryRun:         s.DryRun,
		Interrupted:    s.Interrupted,
		ElapsedSeconds: math.Round(s.Elapsed.Seconds()*1000) / 1000,
	}
	for _, f := range s.Failed {
		w.Failed = append(w.Failed, wireFailed{
			Node: f.Name, Namespace: f.Namespace, hubFields: hubFieldsOf(f.Hub), Form: f.Form.Name, Outcome: f.Outcome, Problems: report.ProblemTexts(f.Problems), Next: f.Next,
		})
	}
	for _, u := range s.Unready {
		w.Unready = append(w.Unready, wireUnready{
			Node: u.Node.Name, Namespace: u.Node.Namespace, objectFields: objectFieldsOf(u.Object), Message: u.Message, Ready: u.Ready,
		})
	}
	return w
}

func hubNames(hubs []lynq.HubKey) []string {
	var names []string
	for _, h := range hubs {
		names = append(names, h.Name)
	}
	return names
}

// orEmpty returns an empty map for nil, so that JSON has {} instead of null.
func orEmpty[K comparable](m map[K]int) map[K]int {
	if m == nil {
		return map[K]int{}
	}
	return m
}

// EndEvents ends the events of a command without a finished run: with a summary, and why as
// its message.
func EndEvents(out tty.Stream, now time.Time, dryRun, interrupted bool, why string) error {
	stream := &events{out: out}
	stream.report(&report.Event{Type: report.EventSummary, Time: now, Details: report.Details{Message: why}, Summary: &report.Summary{DryRun: dryRun, Interrupted: interrupted}})
	return stream.close()
}

// refusal turns a refusal into an event.
func refusal(r plan.Refusal, now time.Time) *wireEvent {
	return &wireEvent{
		Type: eventRefusal, SchemaVersion: schemaVersion,
		Time:         now.UTC().Format(eventTime),
		hubFields:    hubFieldsOf(r.Hub),
		detailFields: detailFields{Details: report.Details{Reason: plan.Reason(r.Guard), Message: joined(r.What, r.Fix)}},
	}
}

// events writes one event per line.
type events struct {
	out io.Writer

	mu  sync.Mutex
	err error // the first error, after which events writes nothing more
}

func (j *events) report(e *report.Event) { j.write(wire(e)) }
func (j *events) tick(time.Time)         {}

// close returns an error if an event wasn't written, because readers rely on complete
// events.
func (j *events) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return fmt.Errorf("write events: %w", j.err)
	}
	return nil
}

func (j *events) write(e *wireEvent) {
	line, err := encode(e)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return
	}
	if err == nil {
		_, err = j.out.Write(line)
	}
	j.err = err
}

// encode returns a value as a line of JSON.
func encode(v any) ([]byte, error) {
	text, err := phrase.JSON(v)
	return append(tty.SafeJSON([]byte(text)), '\n'), err
}
