package ui

import (
	"io"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
)

// View draws the live view after these events, at that time.
func View(events []report.Event, now time.Time, columns, rows int, color bool) []string {
	m := &model{}
	for i := range events {
		m.observe(&events[i])
	}
	return view(m, now, columns, rows, tty.Stream{Color: color}.Paint())
}

// StreamTo returns a stream that writes to w, with the abilities of another stream. A
// terminal has all of them.
func StreamTo(w io.Writer, s tty.Stream) tty.Stream {
	to := tty.NewStream(tty.To(w), func(string) string { return "" }, tty.ColorNever)
	to.Terminal, to.Interactive, to.Color, to.Size = s.Terminal, s.Terminal, s.Color, s.Size
	return to
}

// OneLine returns a text as a cell shows it.
func OneLine(s string) string { return tty.Safe(s) }
