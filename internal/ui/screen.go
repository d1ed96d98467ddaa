package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// Screen keeps a list at the bottom of a terminal and redraws it when it
// changes. What is written to it stays above the list. What was drawn last stays when
// the program ends, unless Close takes it away. It is safe for concurrent use.
type Screen struct {
	live live
	stop func() // following
}

// NewScreen makes a Screen of a terminal.
func NewScreen(out tty.Stream) *Screen { return &Screen{live: live{out: out}, stop: func() {}} }

// Show draws a list in place of the one before. Of one that does not fit the
// items whose tone is not Good are shown first, and what follows on the table.
func (s *Screen) Show(l *List, wide bool) {
	s.live.drawing.Lock()
	defer s.live.drawing.Unlock()
	columns, rows := s.live.out.Extent()
	s.live.draw(s.live.take(), l.frame(wide, s.live.out, columns, rows), columns)
}

// Follow shows a list at each tick, until Close.
func (s *Screen) Follow(tick <-chan time.Time, list func(now time.Time) *List) {
	s.stop = eachTick(tick, func(now time.Time) { s.Show(list(now), false) })
}

// Write has lines stay above the list, from the next Show or Close on: while much is
// written, the list is not redrawn for each line.
func (s *Screen) Write(p []byte) (int, error) {
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	s.live.above = append(s.live.above, tty.Text(strings.TrimSuffix(string(p), "\n")))
	return len(p), nil
}

// Close takes the list away, and leaves what was written.
func (s *Screen) Close() error {
	s.stop()
	return s.live.close()
}

// frame is a list in lines that fit: none is as wide as the terminal, and all of
// them leave a row free.
func (l *List) frame(wide bool, out tty.Stream, columns, rows int) []string {
	out.Size = func() (int, int) { return columns - 1, rows }
	room := max(rows-1, 1)
	var footer []string
	if len(l.Footer) > 0 {
		footer = append(footer, "")
	}
	for _, line := range l.Footer {
		footer = append(footer, tty.Safe(line))
	}
	footer = footer[:min(len(footer), room/2)]
	lines := slices.Concat(l.within(room-len(footer), wide, out), footer)
	for i, line := range lines {
		lines[i] = tty.Cut(line, columns)
	}
	return lines
}

// within is the table in so many lines.
func (l *List) within(room int, wide bool, out tty.Stream) []string {
	if len(l.Items) == 0 {
		return []string{tty.Safe(l.Empty)}
	}
	shown, more := *l, ""
	if len(l.Items)+1 > room {
		shown.Items = worst(l.Items, max(room-2, 0))
		more = fmt.Sprintf("... and %d more", len(l.Items)-len(shown.Items))
	}
	lines := strings.Split(strings.TrimSuffix(shown.Table(wide, out), "\n"), "\n")
	if more != "" {
		lines = append(lines, more)
	}
	return lines[:min(len(lines), room)]
}

// worst are n of the items in their order: those that are not good before those
// that are.
func worst(items []Item, n int) []Item {
	good := n
	for i := range items {
		if items[i].Tone != tty.Good {
			good--
		}
	}
	var kept []Item
	for _, item := range items {
		switch {
		case len(kept) == n:
			return kept
		case item.Tone != tty.Good:
			kept = append(kept, item)
		case good > 0:
			kept = append(kept, item)
			good--
		}
	}
	return kept
}
