package ui

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
)

// live keeps a view at the bottom of a terminal, and lets lasting lines scroll above it. It
// never hides the cursor, and keeps it on the line below the view. So a killed program
// leaves a usable terminal.
type live struct {
	out   tty.Stream
	notes *notes

	// mu guards the data that events change. Nobody holds it during a write, because a
	// terminal may be slow, or stopped with Ctrl-S.
	mu    sync.Mutex
	model model
	above []string

	// drawing guards the data about the screen.
	drawing sync.Mutex
	frame   []string
	columns int // of the terminal when frame was drawn
}

func (l *live) report(e *report.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.model.observe(e)
	if line := l.notes.note(e); line != "" {
		l.above = append(l.above, line)
	}
}

func (l *live) tick(now time.Time) {
	l.drawing.Lock()
	defer l.drawing.Unlock()
	columns, rows := l.out.Extent()
	l.mu.Lock()
	frame := view(&l.model, now, columns, rows, l.notes.paint)
	l.mu.Unlock()
	l.draw(l.take(), frame, columns)
}

// take returns the lines to write above the view, and forgets them.
func (l *live) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	above := l.above
	l.above = nil
	return above
}

// close removes the view and writes the remaining lines.
func (l *live) close() error {
	l.drawing.Lock()
	defer l.drawing.Unlock()
	columns, _ := l.out.Extent()
	l.draw(l.take(), nil, columns)
	return nil
}

// draw replaces the view.
func (l *live) draw(above, frame []string, columns int) {
	same := slices.Equal(frame, l.frame) && (columns == l.columns || len(frame) == 0)
	if same && len(above) == 0 {
		return
	}
	var b strings.Builder
	over := rowsOf(l.frame, columns)
	for _, line := range above {
		b.WriteString(l.out.Fitted(line) + "\n")
	}
	for _, line := range frame {
		b.WriteString(line + "\n")
	}
	l.frame, l.columns = frame, columns
	l.out.Redraw(over, b.String())
}

// eachTick calls do at each tick until the caller calls stop. After stop, it never calls
// do.
func eachTick(tick <-chan time.Time, do func(now time.Time)) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-end:
				return
			case now := <-tick:
				do(now)
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

// rowsOf returns the number of rows that lines take, even if they were drawn for another
// width. A terminal that became narrower wraps them.
func rowsOf(lines []string, columns int) int {
	rows := 0
	for _, line := range lines {
		rows += 1 + strings.Count(ansi.Hardwrap(line, columns, true), "\n")
	}
	return rows
}
