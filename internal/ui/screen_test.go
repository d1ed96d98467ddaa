package ui_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// nodes returns a list with n items and a footer.
func nodes(n int) *list.List {
	l := &list.List{
		Columns: []list.Column{{Name: "NODE"}, {Name: "STATE", Toned: true, Flexible: true}, {Name: "WHY", Wide: true}},
		Empty:   "No nodes", Footer: []string{"hub a: 9 rows", "form \x1bweb: " + strings.Repeat("long ", 9)},
		Sums: []thing{{Name: "a", Count: 9}},
	}
	for i := range n {
		name := string(rune('a' + i))
		l.Items = append(l.Items, list.Item{Cells: []string{name, "Degraded: NotReady", "it waits"}, Name: name, Data: thing{name, i, ""}, Tone: tty.Bad})
	}
	return l
}

// TestScreen wants a list that fits, with the cursor on the line below. It must replace the
// list before.
func TestScreen(t *testing.T) {
	var out bytes.Buffer
	size := [2]int{23, 7}
	s := ui.NewScreen(ui.StreamTo(&out, tty.Stream{Terminal: true, Size: func() (int, int) { return size[0], size[1] }}))
	draw := func(l *list.List) string {
		out.Reset()
		s.Show(l, false)
		return out.String()
	}
	const footer = "\nhub a: 9 rows\nform \\x1bweb: long ...\n"
	if diff := cmp.Diff("NODE STATE\na    Degraded: NotRea…\n"+footer, draw(nodes(1))); diff != "" {
		t.Errorf("first: (-want +got)\n%s", diff)
	}
	if got := draw(nodes(1)); got != "" {
		t.Errorf("drew the same again: %q", got)
	}
	if diff := cmp.Diff("\r\x1b[5A\x1b[JNODE STATE\na    Degraded: NotRea…\n... and 3 more\n"+footer, draw(nodes(4))); diff != "" {
		t.Errorf("too many: (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff("\r\x1b[6A\x1b[JNo nodes\n"+footer, draw(nodes(0))); diff != "" {
		t.Errorf("none: (-want +got)\n%s", diff)
	}
	mixed := nodes(4)
	mixed.Items[0].Tone, mixed.Items[1].Tone, mixed.Footer = tty.Good, tty.Good, mixed.Footer[:1]
	if diff := cmp.Diff("\r\x1b[4A\x1b[JNODE STATE\nc    Degraded: NotRea…\nd    Degraded: NotRea…\n... and 2 more\n\nhub a: 9 rows\n", draw(mixed)); diff != "" {
		t.Errorf("some good: (-want +got)\n%s", diff)
	}
	mixed.Items[3].Tone = tty.Good
	if got := draw(mixed); !strings.Contains(got, "\na  ") || !strings.Contains(got, "\nc  ") || !strings.Contains(got, " 2 more") {
		t.Errorf("most good: %q", got)
	}
	size = [2]int{60, 24}
	if got := draw(nodes(4)); !strings.Contains(got, "d      Degraded: NotReady\n") {
		t.Errorf("on a larger terminal: %q", got)
	}
}

// TestScreenAbove wants written lines to stay above the list, even if the terminal is
// resized. They alone stay after the list.
func TestScreenAbove(t *testing.T) {
	terminal := &screen{columns: 40}
	s := ui.NewScreen(ui.StreamTo(terminal, tty.Stream{Terminal: true, Size: terminal.size}))
	shown := nodes(2)
	shown.Footer = nil
	shows := func(what, want string) {
		t.Helper()
		if diff := cmp.Diff(want, terminal.shows(t)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", what, diff)
		}
	}
	const table = "NODE   STATE\na      Degraded: NotReady\nb      Degraded: NotReady\n"
	_, _ = fmt.Fprintln(s, "the first")
	shows("drawn before it is time", "\n")
	s.Show(shown, false)
	shows("first", "the first\n"+table)
	_, _ = fmt.Fprintln(s, "\x1b[2Jthe second is longer than a line")
	terminal.resize(31)
	s.Show(shown, false)
	shows("narrower", "the first\n\\x1b[2Jthe second is longer\n    than a line\n"+table)
	terminal.resize(40)
	tick, asked := make(chan time.Time), 0
	s.Follow(tick, func(time.Time) *list.List { asked++; return nodes(asked) })
	for range 3 {
		tick <- time.Time{}
	}
	ui.NewLogAbove(s).Note("warning: the last")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if asked != 3 {
		t.Errorf("a shown was asked for %d times in 3 ticks", asked)
	}
	if got := terminal.shows(t); strings.Contains(got, "NODE") || !strings.Contains(got, "level=WARN") || lastLine(got) != `    msg="the last"` {
		t.Errorf("the screen shows\n%s", got)
	}
}

// TestScreenTiny draws on the smallest terminals.
func TestScreenTiny(t *testing.T) {
	for columns := range 4 {
		for rows := range 4 {
			var out bytes.Buffer
			s := ui.NewScreen(ui.StreamTo(&out, tty.Stream{Terminal: true, Size: func() (int, int) { return columns + 1, rows + 1 }}))
			s.Show(nodes(3), true)
			if n := strings.Count(out.String(), "\n"); n > max(rows, 1) {
				t.Errorf("%d lines on %d columns and %d rows: %q", n, columns+1, rows+1, out.String())
			}
		}
	}
}

// TestScreenStopped stops a terminal, as Ctrl-S does. It wants the Screen to drop lines, and
// to say so above the newest list once somebody starts the terminal again.
func TestScreenStopped(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out := tty.To(write).Relayed(t.Context().Done())
	dropped := 0
	lossy := tty.Lossy{Most: 1 << 17, Dropped: func(n int) { dropped += n }, Note: func(n int) []byte { return fmt.Appendf(nil, "%d lost\n", n) }}
	out.Lossy(lossy)
	stream := tty.NewStream(out, func(string) string { return "" }, tty.ColorNever)
	stream.Terminal = true
	s := ui.NewScreen(stream)
	s.Lossy(lossy)
	draws := 0
	for ; !stream.Behind() && draws < 1000; draws++ { // until the pipe is full
		_, _ = io.WriteString(s, strings.Repeat("x", 1000)+"\n")
		s.Show(nodes(draws%3+1), false)
		out.Flush(50 * time.Millisecond)
	}
	for range 200 {
		_, _ = io.WriteString(s, strings.Repeat("y", 1000)+"\n")
		s.Show(nodes(1), false)
	}
	var got bytes.Buffer
	reading := make(chan error, 1)
	go func() {
		_, err := io.Copy(&got, read)
		reading <- err
	}()
	out.Flush(time.Minute)
	s.Show(nodes(2), false)
	out.Flush(time.Minute)
	if err := errors.Join(write.Close(), <-reading, read.Close()); err != nil {
		t.Fatal(err)
	}
	_, last, _ := strings.Cut(got.String(), "y\n")
	_, newest, found := strings.Cut(last, fmt.Sprintf("\n%d lost\nNODE ", dropped))
	if dropped == 0 || !found || !strings.Contains(newest, "\nb ") {
		t.Errorf("dropped %d; after the pause it shows %q", dropped, last[max(0, len(last)-300):])
	}
	if n := strings.Count(got.String(), "NODE "); n > draws+1 {
		t.Errorf("it drew %d times, though the terminal was stopped after %d", n, draws)
	}
}
