package ui

import (
	"io"
	"time"

	"github.com/lynqctl/lynqctl/pkg/apply"
)

// View draws what the live view shows after these events, at that time.
func View(events []apply.Event, now time.Time, columns, rows int, color bool) []string {
	m := &model{}
	for i := range events {
		m.observe(&events[i])
	}
	return view(m, now, columns, rows, paint{on: color})
}

// StreamTo is a stream that writes to w, and can do what another says. A terminal is
// one in every way.
func StreamTo(w io.Writer, s Stream) Stream {
	s.out, s.tty, s.mark = To(w), s.Terminal, newMark()
	return s
}

// Unset tells that a stream goes nowhere yet.
func (s Stream) Unset() bool { return s.out.to == nil }

// OneLine is a text as it is in a cell.
func OneLine(s string) string { return Safe(s) }
