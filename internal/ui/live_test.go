package ui_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/report"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// screen is a terminal that understands only what a live view writes. A test that writes
// anything else fails.
type screen struct {
	mu      sync.Mutex
	columns int
	rows    []string // without colours
	at      int      // the row of the cursor, which is always at the start of a row
	strange []string
	writes  int
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	text := string(p)
	for text != "" {
		up, length := cursorUp(text)
		switch {
		case strings.HasPrefix(text, "\r"):
			text = text[1:]
		case strings.HasPrefix(text, "\x1b[J"):
			s.rows = s.rows[:s.at]
			text = text[3:]
		case up > 0:
			if s.at -= up; s.at < 0 {
				s.strange = append(s.strange, "above the top")
				s.at = 0
			}
			text = text[length:]
		default:
			line, rest, ended := strings.Cut(text, "\n")
			if !ended {
				s.strange = append(s.strange, line)
			}
			s.line(ansi.Strip(line))
			text = rest
		}
	}
	return len(p), nil
}

// cursorUp parses a cursor movement at the start of text. It returns 0 if text starts with
// something else.
func cursorUp(text string) (rows, length int) {
	if strings.HasPrefix(text, "\x1b[A") {
		return 1, 3
	}
	if _, err := fmt.Sscanf(text, "\x1b[%dA", &rows); err != nil {
		return 0, 0
	}
	return rows, len(fmt.Sprintf("\x1b[%dA", rows))
}

// line writes a line, and wraps it.
func (s *screen) line(text string) {
	if strings.ContainsAny(text, "\x1b\r") {
		s.strange = append(s.strange, text)
	}
	for _, row := range strings.Split(ansi.Hardwrap(text, s.columns, true), "\n") {
		s.rows = append(s.rows[:s.at], row)
		s.at++
	}
}

// resize makes the screen narrower, like terminals that wrap their contents.
func (s *screen) resize(columns int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := s.rows
	s.columns, s.rows, s.at = columns, nil, 0
	for _, row := range rows {
		s.line(row)
	}
}

func (s *screen) size() (int, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.columns, 24
}

func (s *screen) shows(t *testing.T) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.strange != nil {
		t.Errorf("written, and not understood: %q", s.strange)
	}
	return strings.Join(s.rows, "\n") + "\n"
}

func newLive(columns int, color bool) (*screen, *console) {
	s := &screen{columns: columns}
	return s, newConsole(ui.Options{Err: ui.StreamTo(s, tty.Stream{Terminal: true, Color: color, Size: s.size})})
}

func TestLive(t *testing.T) {
	for _, color := range []bool{false, true} {
		s, c := newLive(80, color)
		var shown bytes.Buffer
		show := func(what string) {
			c.tick()
			fmt.Fprintf(&shown, "== %s\n%s", what, s.shows(t))
		}
		events := story()
		c.tell(events[:3])
		c.forward(2 * time.Second)
		show("begun")
		c.tell(events[3:4])
		c.Report(wait(acme, "other", strings.Repeat("終わり", 20)))
		c.forward(3 * time.Second)
		show("waiting")
		c.tell(events[4:16])
		show("conflicts stay above")
		s.resize(33)
		show("narrower")
		s.resize(20)
		c.forward(time.Second)
		show("narrower than lines that stand")
		s.resize(80)
		c.tell(events[16:])
		c.close(t)
		fmt.Fprintf(&shown, "== over\n%s", s.shows(t))
		golden(t, "live.txt", shown.String())
	}
}

// TestLiveEndsClean interrupts a view at any time. The lasting lines stay, and the view
// disappears.
func TestLiveEndsClean(t *testing.T) {
	s, c := newLive(80, true)
	c.tell(story()[:12])
	c.tick()
	c.Report(report.Event{Type: report.EventWarning, Details: report.Details{Message: "the last one"}})
	c.close(t)
	c.close(t)
	got := s.shows(t)
	if strings.Contains(got, "nodes") || lastLine(got) != "warning: the last one" {
		t.Errorf("the screen shows\n%s", got)
	}
}

// TestLiveIsQuiet wants no write while nothing in a view moves.
func TestLiveIsQuiet(t *testing.T) {
	s, c := newLive(80, false)
	c.tick()
	c.tick()
	if s.writes > 0 {
		t.Error("something is written before anything happened")
	}
	c.tell(story()[:3])
	c.tick()
	before := s.writes
	c.tick()
	c.tick()
	if s.writes != before {
		t.Errorf("%d writes after %d", s.writes, before)
	}
	c.close(t)
}

// TestLiveColor wants colours only if the user wants them, and each must end on its line.
func TestLiveColor(t *testing.T) {
	for _, color := range []bool{false, true} {
		c := newConsole(ui.Options{Err: tty.Stream{Terminal: true, Color: color, Size: func() (int, int) { return 60, 5 }}})
		c.tell(story()[:12])
		c.tick()
		c.close(t)
		colored := false
		for line := range strings.Lines(c.err.String()) {
			colored = colored || strings.Contains(line, "m") && strings.Contains(line, "\x1b[1m")
			if strings.Count(line, "\x1b[1m") > strings.Count(line, "\x1b[m") {
				t.Errorf("a style that does not end in %q", line)
			}
		}
		if colored != color {
			t.Errorf("Color %v, yet the view is\n%q", color, c.err)
		}
	}
}

// TestLiveConcurrently reports from many goroutines, and wants the right counts.
func TestLiveConcurrently(t *testing.T) {
	for name, o := range map[string]ui.Options{"live": {Err: tty.Stream{Terminal: true}}, "lines": {}, "json": {Format: tty.JSON}} {
		t.Run(name, func(t *testing.T) {
			c := newConsole(o)
			const workers, nodes = 8, 25
			c.Report(report.Event{Type: report.EventPlan, Nodes: workers * nodes})
			var running sync.WaitGroup
			for w := range workers {
				running.Go(func() {
					for n := range nodes {
						key := lynq.NodeID{Namespace: "default", Name: fmt.Sprintf("n%d-%d", w, n)}
						c.Report(wait(key, "app", "pending"))
						c.Report(report.Event{Type: report.EventReady, NodeID: key, Details: report.Details{Object: ref("Deployment", "app")}})
						c.Report(report.Event{Type: report.EventObject, NodeID: key, Details: report.Details{Object: ref("Deployment", "app"), Action: plan.ActionCreate, Outcome: report.OutcomeDone}})
						c.Report(report.Event{Type: report.EventNode, NodeID: key, Details: report.Details{Outcome: report.OutcomeFailed, Message: "why"}}) // reported twice, and counted after that
					}
				})
			}
			c.tick()
			running.Wait()
			c.tick()
			c.close(t)
			got := c.err.String() + c.out.String()
			want := map[string]string{"live": "200/200 nodes · 200 failed · 200 objects changed · 200 ready", "lines": "  failed: why", "json": `"node":"n7-24"`}[name]
			if !strings.Contains(got, want) {
				t.Errorf("%q is missing from\n%s", want, got)
			}
			if n := strings.Count(got, "failed: why"); name != "json" && n != 2 {
				t.Errorf("%d failures told, not 2 of %d", n, workers*nodes)
			}
			if n := strings.Count(got, "\n"); name == "json" && n != 4*workers*nodes+1 {
				t.Errorf("%d events written", n)
			}
		})
	}
}

// TestLiveRate wants a rate over the last ten seconds.
func TestLiveRate(t *testing.T) {
	s, c := newLive(80, false)
	rate := func() string {
		c.tick()
		for _, word := range strings.Fields(s.shows(t)) {
			if strings.HasSuffix(word, "/s") {
				return word
			}
		}
		return ""
	}
	change := report.Event{Type: report.EventObject, NodeID: acme, Details: report.Details{Object: ref("Service", "a"), Action: plan.ActionCreate, Outcome: report.OutcomeDone}}
	var got []string
	for range 30 {
		c.Report(change)
	}
	got = append(got, rate())
	c.forward(3 * time.Second)
	got = append(got, rate())
	c.forward(time.Minute)
	got = append(got, rate())
	for range 5 {
		c.Report(change)
		c.forward(time.Second)
	}
	got = append(got, rate())
	c.close(t)
	if diff := cmp.Diff([]string{"30.0/s", "10.0/s", "0.0/s", "0.5/s"}, got); diff != "" {
		t.Error(diff)
	}
}
