package ui

import (
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// Screen keeps a list at the bottom of a terminal and redraws it when it changes. Text that
// is written to it stays above the list. The last list stays when the program ends, unless
// Close removes it. It is safe for concurrent use.
type Screen struct {
	live live
	stop func() // stops Follow
}

// NewScreen returns a Screen on a terminal.
func NewScreen(out tty.Stream) *Screen { return &Screen{live: live{out: out}, stop: func() {}} }

// Show replaces the list. If the list doesn't fit, Show prefers items whose tone isn't
// Good, and the footer.
func (s *Screen) Show(l *list.List, wide bool) {
	s.live.drawing.Lock()
	defer s.live.drawing.Unlock()
	columns, rows := s.live.out.Extent()
	s.live.draw(s.live.take(), l.Frame(wide, s.live.out, columns, rows), columns)
}

// Follow shows a list at each tick until Close.
func (s *Screen) Follow(tick <-chan time.Time, listed func(now time.Time) *list.List) {
	s.stop = eachTick(tick, func(now time.Time) { s.Show(listed(now), false) })
}

// Write keeps lines above the list, from the next Show or Close on. So many writes don't
// redraw the list each time.
func (s *Screen) Write(p []byte) (int, error) {
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	s.live.above = append(s.live.above, tty.Text(strings.TrimSuffix(string(p), "\n")))
	return len(p), nil
}

// Close removes the list, and leaves the written lines.
func (s *Screen) Close() error {
	s.stop()
	return s.live.close()
}
