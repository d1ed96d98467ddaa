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

// waitingEvery is the interval at which a log names the objects that a run waits for.
// waitingNamed limits how many it names.
const (
	waitingEvery = 10 * time.Second
	waitingNamed = 3
)

// countingEvery is the interval at which a log counts the changes without a line.
const countingEvery = 30 * time.Second

// lines writes lines about events to a log.
type lines struct {
	out   tty.Stream
	notes *notes

	mu    sync.Mutex
	waits waits
	told  time.Time // when waits were last checked, or began
	last  []string  // the last text about them, without the durations

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

// waiting writes what the run waits for, if it is time and the text changed.
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

// counting writes a count of the changes without a line, if it is time.
func (l *lines) counting(now time.Time) {
	switch {
	case l.counted.IsZero():
		l.counted = now
	case now.Sub(l.counted) >= countingEvery:
		l.counted = now
		l.write(l.notes.tally.line())
	}
}

// write ignores errors, because a run continues when its output closes.
func (l *lines) write(line string) {
	if line != "" {
		_, _ = io.WriteString(l.out, line+"\n")
	}
}
