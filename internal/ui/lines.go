package ui

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// waitingEvery is how often a log is told that objects are waited for, and
// waitingNamed how many of them it names.
const (
	waitingEvery = 10 * time.Second
	waitingNamed = 3
)

// countingEvery is how often a log is told how many changes had no line.
const countingEvery = 30 * time.Second

// lines writes a line for what happens, for logs.
type lines struct {
	out   tty.Stream
	notes *notes

	mu    sync.Mutex
	waits waits
	told  time.Time // when waits were last looked at, or began
	last  []string  // what was told of them, but for how long it takes

	counted time.Time // when changes were last counted, or the first event came
}

func (l *lines) report(e *report.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Type == report.EventWait && l.waits.n == 0 && e.Time.Sub(l.told) > waitingEvery {
		l.told = e.Time
	}
	l.waits.observe(e)
	l.write(l.notes.note(e))
	l.counting(e.Time)
	l.waiting(e.Time)
}

func (l *lines) tick(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counting(now)
	l.waiting(now)
}

func (l *lines) close() error { return nil }

// waiting tells what is waited for, when it is time to and something else is to be
// told than the last time.
func (l *lines) waiting(now time.Time) {
	if l.notes.quiet || l.waits.n == 0 || now.Sub(l.told) < waitingEvery {
		return
	}
	l.told = now
	longest := l.waits.longest(waitingNamed)
	named := make([]string, len(longest))
	what := []string{strconv.Itoa(l.waits.n)}
	for i, w := range longest {
		named[i] = tty.Safe(w.node.Name) + "  " + w.line(now)
		what = append(what, w.node.String(), w.object.String(), w.why)
	}
	if slices.Equal(what, l.last) {
		return
	}
	l.last = what
	line := "waiting for " + phrase.Count(l.waits.n, "object") + ": " + strings.Join(named, "; ")
	if more := l.waits.n - len(named); more > 0 {
		line += fmt.Sprintf("; and %d more", more)
	}
	l.write(line)
}

// counting counts the changes that had no line, when it is time to.
func (l *lines) counting(now time.Time) {
	switch {
	case l.counted.IsZero():
		l.counted = now
	case now.Sub(l.counted) >= countingEvery:
		l.counted = now
		l.write(l.notes.tally.line())
	}
}

// write ignores errors: a run goes on when its output is closed.
func (l *lines) write(line string) {
	if line != "" {
		_, _ = io.WriteString(l.out, line+"\n")
	}
}
