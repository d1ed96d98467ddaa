package ui_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/internal/ui/views"
)

// nodes are a list with so many items and what follows on it.
func nodes(n int) *ui.List {
	l := &ui.List{
		Columns: []ui.Column{{Name: "NODE"}, {Name: "STATE", Toned: true, Flexible: true}, {Name: "WHY", Wide: true}},
		Empty:   "No nodes", Footer: []string{"hub a: 9 rows", "form \x1bweb: " + strings.Repeat("long ", 9)},
		Sums: []thing{{Name: "a", Count: 9}},
	}
	for i := range n {
		name := string(rune('a' + i))
		l.Items = append(l.Items, ui.Item{Cells: []string{name, "Degraded: NotReady", "it waits"}, Name: name, Data: thing{name, i, ""}, Tone: tty.Bad})
	}
	return l
}

// TestScreen: what is drawn fits, leaves the cursor on the line below, and takes
// the place of what was drawn before.
func TestScreen(t *testing.T) {
	var out bytes.Buffer
	size := [2]int{23, 7}
	s := ui.NewScreen(ui.StreamTo(&out, tty.Stream{Terminal: true, Size: func() (int, int) { return size[0], size[1] }}))
	draw := func(l *ui.List) string {
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

// TestScreenAbove: what is written stays above the list, whatever the terminal is resized
// to meanwhile, and is all that stays when the list goes.
func TestScreenAbove(t *testing.T) {
	terminal := &screen{columns: 40}
	s := ui.NewScreen(ui.StreamTo(terminal, tty.Stream{Terminal: true, Size: terminal.size}))
	list := nodes(2)
	list.Footer = nil
	shows := func(what, want string) {
		t.Helper()
		if diff := cmp.Diff(want, terminal.shows(t)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", what, diff)
		}
	}
	const table = "NODE   STATE\na      Degraded: NotReady\nb      Degraded: NotReady\n"
	_, _ = fmt.Fprintln(s, "the first")
	shows("drawn before it is time", "\n")
	s.Show(list, false)
	shows("first", "the first\n"+table)
	_, _ = fmt.Fprintln(s, "\x1b[2Jthe second is longer than a line")
	terminal.resize(31)
	s.Show(list, false)
	shows("narrower", "the first\n\\x1b[2Jthe second is longer\n    than a line\n"+table)
	terminal.resize(40)
	tick, asked := make(chan time.Time), 0
	s.Follow(tick, func(time.Time) *ui.List { asked++; return nodes(asked) })
	for range 3 {
		tick <- time.Time{}
	}
	views.NewLogAbove(s).Note("warning: the last")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if asked != 3 {
		t.Errorf("a list was asked for %d times in 3 ticks", asked)
	}
	if got := terminal.shows(t); strings.Contains(got, "NODE") || !strings.Contains(got, "level=WARN") || lastLine(got) != `    msg="the last"` {
		t.Errorf("the screen shows\n%s", got)
	}
}

// TestSpare: a terminal that is too narrow for a table shows it without the columns that
// can be spared; wherever else it goes, they are there.
func TestSpare(t *testing.T) {
	l := nodes(1)
	l.Footer = nil
	l.Columns[0].Spare = true
	for columns, want := range map[int]string{
		0: "NODE   STATE\na      Degraded: NotReady\n", 14: "NODE STATE\na    Degraded…\n", 12: "STATE\nDegraded: N…\n",
	} {
		if out, _ := printed(t, l, tty.Table, columns, false); out != want {
			t.Errorf("%d columns: %q, want %q", columns, out, want)
		}
	}
}

// TestScreenTiny: the smallest terminals are drawn on without harm.
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

func TestFeed(t *testing.T) {
	for name, tt := range map[string]struct {
		format tty.Format
		want   string
	}{
		"table": {tty.Table, "NODE   STATE\na      Degraded: NotReady\nb      Degraded: NotReady\nlonger\\x07   -\nc            Degraded: NotReady\n"},
		"wide":  {tty.Wide, "NODE   STATE                WHY\na      Degraded: NotReady   it waits\nb      Degraded: NotReady   it waits\nlonger\\x07   -                    -\nc            Degraded: NotReady   it waits\n"},
		"name":  {tty.Name, "a\nb\nlonger\\x07\nc\n"},
		"json":  {tty.JSON, "{\"name\":\"a\",\"count\":0}\n{\"name\":\"b\",\"count\":1}\n{\"name\":\"longer\\u0007\",\"count\":0}\n{\"name\":\"c\",\"count\":2}\n"},
	} {
		var out bytes.Buffer
		l := nodes(3)
		f := &ui.Feed{Out: ui.StreamTo(&out, tty.Stream{}), Format: tt.format, Columns: l.Columns}
		for _, items := range [][]ui.Item{nil, l.Items[:2], {{Cells: []string{"longer\x07", "", ""}, Name: "longer\x07", Data: thing{Name: "longer\x07"}}}, l.Items[2:]} {
			if err := f.Add(items...); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(tt.want, out.String()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
	if err := (&ui.Feed{Out: ui.StreamTo(broken{}, tty.Stream{}), Columns: nodes(0).Columns}).Add(nodes(1).Items...); err == nil {
		t.Error("a feed that cannot be written is no error")
	}
}

// TestListFooter: what follows on a table is there without one too, and JSON has
// sums in its place.
func TestListFooter(t *testing.T) {
	l := nodes(1)
	l.Footer = l.Footer[:1]
	table, _ := printed(t, l, tty.Table, 0, true)
	if diff := cmp.Diff("\x1b[1mNODE\x1b[m   \x1b[1mSTATE\x1b[m\na      \x1b[31mDegraded: NotReady\x1b[m\n\nhub a: 9 rows\n", table); diff != "" {
		t.Errorf("table: (-want +got)\n%s", diff)
	}
	document, _ := printed(t, l, tty.JSON, 0, false)
	if !strings.Contains(document, "\"sums\": [\n    {\n      \"name\": \"a\"") {
		t.Errorf("JSON: %s", document)
	}
	l.Items = nil
	if out, err := printed(t, l, tty.Table, 0, false); out != "hub a: 9 rows\n" || err != "No nodes\n" {
		t.Errorf("without items: %q, %q", out, err)
	}
	if out, _ := printed(t, l, tty.Name, 0, false); out != "" {
		t.Errorf("names of nothing: %q", out)
	}
}

func TestDetailsMore(t *testing.T) {
	var out bytes.Buffer
	d := &ui.Details{Facts: []ui.Fact{{Name: "Node", Text: "n"}}, More: []ui.Section{{Title: "Empty"}, {Title: "Events", List: *nodes(1)}}}
	if err := ui.PrintDetails(d, tty.Table, ui.StreamTo(&out, tty.Stream{})); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("Node:   n\n\nEvents:\nNODE   STATE\na      Degraded: NotReady\n", out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
