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

// live keeps a view at the bottom of a terminal, and lets what stays scroll
// above it. The cursor is never hidden and is on the line below the view,
// so that a program that is killed leaves a sane terminal.
type live struct {
	out   tty.Stream
	notes *notes

	// mu guards what events change. It is never held while writing, since a
	// terminal may take its time (or be stopped with Ctrl-S).
	mu    sync.Mutex
	model model
	above []string

	// drawing guards what is on the screen.
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

// take gives the lines that are yet to be written above the view.
func (l *live) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	above := l.above
	l.above = nil
	return above
}

// close takes the view away and writes what is still to stay.
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

// eachTick calls do at each tick, until stop is called: then it is called no more.
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

// rowsOf is how many rows lines take that were drawn for another width perhaps:
// a terminal that became narrower wraps them.
func rowsOf(lines []string, columns int) int {
	rows := 0
	for _, line := range lines {
		rows += 1 + strings.Count(ansi.Hardwrap(line, columns, true), "\n")
	}
	return rows
}
