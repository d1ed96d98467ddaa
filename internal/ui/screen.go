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

	lossy   *tty.Lossy
	waiting int // bytes above the list that aren't drawn
	dropped int // lines
}

// NewScreen returns a Screen on a terminal.
func NewScreen(out tty.Stream) *Screen { return &Screen{live: live{out: out}, stop: func() {}} }

// Show replaces the list. If the list doesn't fit, Show prefers items whose tone isn't
// Good, and the footer.
func (s *Screen) Show(l *list.List, wide bool) {
	s.show(func(columns, rows int) []string { return l.Frame(wide, s.live.out, columns, rows) })
}

// ShowDetails replaces the list by details, or their beginning if they don't fit.
func (s *Screen) ShowDetails(all []*list.Details, wide bool) {
	s.show(func(columns, rows int) []string { return list.DetailsFrame(all, wide, s.live.out, columns, rows) })
}

func (s *Screen) show(frame func(columns, rows int) []string) {
	s.live.drawing.Lock()
	defer s.live.drawing.Unlock()
	if s.live.out.Behind() {
		return // a stopped terminal gets the newest list later
	}
	s.note()
	columns, rows := s.live.out.Extent()
	s.live.draw(s.live.take(), frame(columns, rows), columns)
}

// Lossy makes the Screen drop lines that a stopped terminal doesn't show. Without it, all of
// them wait. Call it before the first Write.
func (s *Screen) Lossy(l tty.Lossy) { s.lossy = &l }

// note adds a line about dropped lines, and allows new ones.
func (s *Screen) note() {
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	if s.dropped > 0 {
		s.live.above = append(s.live.above, strings.TrimSuffix(string(s.lossy.Note(s.dropped)), "\n"))
	}
	s.waiting, s.dropped = 0, 0
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
	if s.waiting += len(p); s.lossy != nil && s.waiting > s.lossy.Most {
		lines := max(strings.Count(string(p), "\n"), 1)
		s.dropped += lines
		s.lossy.Dropped(lines)
		return len(p), nil
	}
	s.live.above = append(s.live.above, tty.Text(strings.TrimSuffix(string(p), "\n")))
	return len(p), nil
}

// Close removes the list, and leaves the written lines.
func (s *Screen) Close() error {
	s.stop()
	s.note()
	return s.live.close()
}
