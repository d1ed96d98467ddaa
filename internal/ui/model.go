package ui

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply/report"
)

// model holds the numbers of the live view.
type model struct {
	start   time.Time // of the first event
	total   int       // nodes with something to do
	done    int       // finished ones among them
	failed  int       // nodes that failed
	changed int       // objects
	ready   int       // objects
	over    bool      // the summary came
	rate    rate
	waits   waits

	// These estimate the remaining time: the number of steps and nodes, how many ended, and
	// when the last one did.
	work, ended int
	advanced    time.Time
}

// observe notes an event, which must have a time.
func (m *model) observe(e *report.Event) {
	if m.start.IsZero() {
		m.start = e.Time
	}
	m.waits.observe(e)
	switch e.Type {
	case report.EventPlan:
		m.total += e.Nodes
		m.work += e.Nodes
		for action, n := range e.Counts {
			if changes(action) {
				m.work += n
			}
		}
	case report.EventObject:
		if e.Outcome != "" && changes(e.Action) {
			m.advance(e.Time)
		}
		if e.Outcome == report.OutcomeDone && changes(e.Action) {
			m.changed++
			m.rate.add(e.Time)
		}
	case report.EventReady:
		m.ready++
	case report.EventNode:
		m.done++
		m.advance(e.Time)
		if e.Outcome != report.OutcomeDone && e.Outcome != report.OutcomeUnchanged {
			m.failed++
		}
	case report.EventSummary:
		m.over = true
	}
}

func (m *model) advance(t time.Time) {
	m.ended++
	m.advanced = t
}

// The view shows no estimate before this part of the work is done, and after this pause
// without an end. In a pause, the run waits for objects, which have their own times.
const (
	judgedFrom  = 0.05
	judgedWhile = 5 * time.Second
)

// left estimates how long a run will continue at the current pace. It returns false without
// an estimate.
func (m *model) left(now time.Time) (time.Duration, bool) {
	elapsed := now.Sub(m.start)
	part := float64(m.ended) / float64(max(m.work, 1))
	if elapsed < time.Second || part < judgedFrom || part >= 1 || now.Sub(m.advanced) > judgedWhile {
		return 0, false
	}
	return time.Duration(float64(elapsed) * (1 - part) / part), true
}

// window is the length of a rate, in seconds.
const window = 10

// rate counts events in each of the last seconds.
type rate struct {
	second [window]int64
	count  [window]int
}

func (r *rate) add(t time.Time) {
	second := t.Unix()
	i := second % window
	if i < 0 {
		i += window
	}
	if r.second[i] != second {
		r.second[i], r.count[i] = second, 0
	}
	r.count[i]++
}

// perSecond returns the mean over the window. If start is more recent, it uses the time
// since start, but at least a second.
func (r *rate) perSecond(start, now time.Time) float64 {
	n := 0
	for i, second := range r.second {
		if age := now.Unix() - second; age >= 0 && age < window {
			n += r.count[i]
		}
	}
	return float64(n) / min(max(now.Sub(start).Seconds(), 1), window)
}
