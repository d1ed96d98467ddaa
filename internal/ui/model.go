package ui

import (
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply"
)

// model is what the live view shows.
type model struct {
	start   time.Time // of the first event
	total   int       // nodes that have something to do
	done    int       // of these
	failed  int       // nodes that did not end well
	changed int       // objects
	ready   int       // objects
	over    bool      // the summary was told
	rate    rate
	waits   waits
}

// observe takes note of an event that has a time.
func (m *model) observe(e *apply.Event) {
	if m.start.IsZero() {
		m.start = e.Time
	}
	m.waits.observe(e)
	switch e.Type {
	case apply.EventPlan:
		m.total += e.Nodes
	case apply.EventObject:
		if e.Outcome == apply.OutcomeDone && changes(e.Action) {
			m.changed++
			m.rate.add(e.Time)
		}
	case apply.EventReady:
		m.ready++
	case apply.EventNode:
		m.done++
		if e.Outcome != apply.OutcomeDone && e.Outcome != apply.OutcomeUnchanged {
			m.failed++
		}
	case apply.EventSummary:
		m.over = true
	}
}

// window is how many seconds a rate looks back.
const window = 10

// rate counts what happened in each of the last seconds.
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

// perSecond is the mean over the window, or over the time since start where
// that is shorter, yet not under a second.
func (r *rate) perSecond(start, now time.Time) float64 {
	n := 0
	for i, second := range r.second {
		if age := now.Unix() - second; age >= 0 && age < window {
			n += r.count[i]
		}
	}
	return float64(n) / min(max(now.Sub(start).Seconds(), 1), window)
}
