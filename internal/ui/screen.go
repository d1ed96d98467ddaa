package ui

import (
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui/list"
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
func (s *Screen) Show(l *list.List, wide bool) {
	s.live.drawing.Lock()
	defer s.live.drawing.Unlock()
	columns, rows := s.live.out.Extent()
	s.live.draw(s.live.take(), l.Frame(wide, s.live.out, columns, rows), columns)
}

// Follow shows a list at each tick, until Close.
func (s *Screen) Follow(tick <-chan time.Time, listed func(now time.Time) *list.List) {
	s.stop = eachTick(tick, func(now time.Time) { s.Show(listed(now), false) })
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
