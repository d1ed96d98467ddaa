package ui_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// TestCounting wants a count on a terminal after a second, and nothing of it in the end.
func TestCounting(t *testing.T) {
	var out bytes.Buffer
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	tick := make(chan time.Time)
	stream := ui.StreamTo(&out, tty.Stream{Terminal: true, Size: func() (int, int) { return 80, 24 }})
	c := ui.StartCounting(stream, "reading rows", now, tick)
	shown := func(after time.Duration) string {
		now = now.Add(after)
		tick <- now
		tick <- now // by then, the previous frame is drawn, and this one is the same
		lines := strings.Split(ansi.Strip(out.String()), "\r")
		return strings.TrimSpace(lines[len(lines)-1])
	}
	c.Add(50)
	if got := shown(900 * time.Millisecond); got != "" {
		t.Errorf("at first: %q", got)
	}
	if got := shown(1100 * time.Millisecond); got != "reading rows: 50  25/s  2s" {
		t.Errorf("without a total: %q", got)
	}
	c.Reached(50, 200)
	if got := shown(0); got != "[=====---------------]  reading rows: 50/200  25/s  2s  ~7s left" {
		t.Errorf("with one: %q", got)
	}
	c.Note("warning: so slow")
	if got := ansi.Strip(out.String()); !strings.HasSuffix(got, "\rwarning: so slow\n[=====---------------]  reading rows: 50/200  25/s  2s  ~7s left\n") {
		t.Errorf("with a note above it: %q", got)
	}
	c.Stop()
	c.Stop()
	if !strings.HasSuffix(out.String(), "\r"+ansi.CursorUp(1)+ansi.EraseScreenBelow) {
		t.Errorf("it is still there: %q", out.String())
	}

	stream.Terminal = false
	none := ui.StartCounting(stream, "reading rows", now, nil)
	none.Add(1)
	none.Reached(1, 2)
	none.Stop()
	if none != nil {
		t.Error("something is shown where there is no terminal")
	}
}
