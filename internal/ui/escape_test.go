package ui_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/diff"
	"github.com/lynqctl/lynqctl/pkg/form/depgraph"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// hostile returns texts that a terminal would act on, or that look like our own colours.
func hostile() []string {
	return []string{
		"\x1b[2J\x1b]0;title\a", "\u009b31mred\u0085", "a\rb\x7f\x00", "\u202ecba\u2066\u2069", "z\u200bw\u2028\u2029\ufeff",
		"\xff\xc3", "\x1b[31mred\x1b[m", "\x1b[1;1234567890m", "\U000e0001", "one\ntwo\tthree", "",
	}
}

// TestStreamEscapes wants a stream to escape unprintable characters, and to keep printable
// ones.
func TestStreamEscapes(t *testing.T) {
	var out bytes.Buffer
	s := ui.StreamTo(&out, tty.Stream{Terminal: true, Color: true})
	for text, want := range map[string]string{
		"error: \x1b[2J\u009b\x7f\u202e\u200b\u2028\xff\U000e0001": `error: \x1b[2J\u009b\x7f\u202e\u200b\u2028\xff\U000e0001`,
		"two\nlines\t, Größe \u00a0 世界":                            "two\nlines\t, Größe \u00a0 世界",
		"over\rwritten, and\r\nended":                              "over\\rwritten, and\nended",
	} {
		t.Run(text, func(t *testing.T) {
			out.Reset()
			if n, err := fmt.Fprint(s, text); err != nil || n != len(text) || out.String() != want {
				t.Errorf("%q: %q, %d, %v", text, out.String(), n, err)
			}
		})
	}
	if _, err := io.WriteString(tty.Stream{}, "to nowhere"); err != nil {
		t.Error(err)
	}
}

// TestDataOnTerminal wants data escaped on a terminal, even if a character comes in two
// writes.
func TestDataOnTerminal(t *testing.T) {
	for terminal, want := range map[bool]string{true: "a: ö\\u202e\n\tb\\x1b\\xff\n", false: "a: ö\u202e\n\tb\x1b\xff\n"} {
		var out bytes.Buffer
		data := ui.StreamTo(&out, tty.Stream{Terminal: terminal}).Data()
		for _, b := range []byte("a: ö\u202e\n\tb\x1b\xff\n") {
			if n, err := data.Write([]byte{b}); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		if out.String() != want {
			t.Errorf("terminal %v: %q", terminal, out.String())
		}
		if _, err := ui.StreamTo(closed{}, tty.Stream{Terminal: terminal}).Data().Write([]byte("a")); !errors.Is(err, errClosed) {
			t.Error(err)
		}
	}
}

// FuzzTerminal puts a text of others into every place. It wants the same control characters
// on the terminal as for a harmless text.
func FuzzTerminal(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if ui.OneLine(text) == "" {
			return // an empty text shows nothing
		}
		got, want := shownEverywhere(t, text), shownEverywhere(t, ui.OneLine(text))
		for place := range got {
			drawn := ownMoves().ReplaceAllString(got[place], "")
			if escapes := strings.Count(drawn, "\x1b"); escapes != strings.Count(ownMoves().ReplaceAllString(want[place], ""), "\x1b") {
				t.Errorf("%s: %d escapes with %q: %q", place, escapes, text, got[place])
			}
			if !utf8.ValidString(got[place]) {
				t.Errorf("%s: bytes that are no text in %q", place, got[place])
			}
			for _, r := range drawn {
				if r != '\n' && r != '\t' && r != '\x1b' && !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r) {
					t.Errorf("%s: %q in %q", place, r, got[place])
				}
			}
		}
	})
}

// shownEverywhere returns what a terminal gets from a text of others, by place.
func shownEverywhere(t *testing.T, text string) map[string]string {
	shown := map[string]string{}
	on := func(place string, show func(out tty.Stream) error) {
		var b bytes.Buffer
		out := ui.StreamTo(&b, tty.Stream{Terminal: true, Color: true, Size: func() (int, int) { return 70, 24 }})
		if err := show(out); err != nil {
			t.Fatalf("%s: %v", place, err)
		}
		shown[place] = b.String()
	}
	on("error", func(out tty.Stream) error { _, err := fmt.Fprintln(out, "error:", text); return err })
	listsShown(on, text)
	on("diff", func(out tty.Stream) error {
		r := hostileDiff(text)
		ui.PrintDiffProblems(r, out)
		return errors.Join(ui.PrintDiff(r, ui.Expand{}, out), ui.PrintDiffNames(r, out), ui.PrintDiffJSON(r, out))
	})
	on("prompts", func(out tty.Stream) error {
		_, err := tty.Confirm(strings.NewReader("y\n"), out, text)
		_, err2 := tty.ConfirmName(strings.NewReader(text+"\n"), out, text, text)
		_, err3 := ui.Choose(strings.NewReader(strings.ReplaceAll(text, "\n", " ")+"\nnone\n1\n"), out, hostileList(text), text)
		return errors.Join(err, err2, err3)
	})
	on("progress", func(out tty.Stream) error {
		tick := make(chan time.Time)
		c := ui.StartCounting(out, text, time.Unix(0, 0), tick)
		tick <- time.Unix(5, 0)
		tick <- time.Unix(5, 0) // by then, the previous frame is drawn
		c.Note(text)
		c.Stop()
		return nil
	})
	for _, format := range []tty.Format{tty.Table, tty.Wide, tty.YAML, tty.Name, tty.JSON} {
		terminal := tty.Stream{Terminal: true} // without colours, because the number of frames varies
		for i, c := range reported(t, ui.Options{Format: format, Out: terminal, Err: terminal}, text) {
			shown[fmt.Sprintf("events %s %d", format, i)] = c.out.String() + c.err.String()
		}
	}
	return shown
}

func listsShown(on func(string, func(tty.Stream) error), text string) {
	l := hostileList(text)
	formats := append(list.Formats(), "jsonpath={.items[0].name}", "go-template={{(index .items 0).name}}", "custom-columns=N:.name")
	for _, format := range formats {
		on("list "+string(format), func(out tty.Stream) error { return list.Print(l, format, out, out) })
		on("details "+string(format), func(out tty.Stream) error {
			return list.PrintDetails(&list.Details{Facts: []list.Fact{{Name: "Node", Text: text}}, Parts: *l, More: []list.Section{{Title: text, List: *l}}, Data: map[string]any{"items": []thing{{text, 1, text}}}}, format, out)
		})
	}
	for _, format := range []tty.Format{tty.Table, tty.Name, tty.JSON} {
		on("feed "+string(format), func(out tty.Stream) error {
			return (&list.Feed{Out: out, Format: format, Columns: l.Columns}).Add(l.Items...)
		})
	}
	on("graph", func(out tty.Stream) error {
		return list.PrintGraph([]depgraph.Line{{Text: text}, {Depth: 1, Text: text}, {Depth: 2, Text: text}}, out)
	})
	on("screen", func(out tty.Stream) error { ui.NewScreen(out).Show(l, false); return nil })
	on("nothing", func(out tty.Stream) error { return list.Print(&list.List{Empty: text}, tty.Table, out, out) })
}

// hostileList returns a list with a tree.
func hostileList(text string) *list.List {
	l := &list.List{Columns: things().Columns, Footer: []string{text}, Warnings: []string{text}, Empty: text, Sums: map[string]string{text: text}}
	for depth := range 3 {
		l.Items = append(l.Items, list.Item{Cells: []string{text, text, text, text}, Name: text, Data: thing{text, 1, text}, Tone: tty.Bad, Depth: depth})
	}
	return l
}

func hostileDiff(text string) *diff.Report {
	r := differences()
	r.Refusals[0].What, r.Refusals[0].Fix = text, text
	for i := range r.Nodes {
		n := &r.Nodes[i]
		n.Name, n.Hub, n.Problem = text, lynq.HubKey{Namespace: text, Name: text}, text
		for j := range n.Objects {
			o := &n.Objects[j]
			o.Ref, o.Note, o.Cause.Kind = lynq.Ref{Kind: text, Namespace: text, Name: text}, text, diff.CauseKind(text)
			if o.Diff != "" {
				o.Diff = "--- live\n+++ next\n@@ -1 +1 @@\n-a: " + ui.OneLine(text) + "\n+a: " + strings.ReplaceAll(text, "\n", " ") + "\n"
			}
			for k := range o.Fields {
				o.Fields[k].Path[0].Field = text
			}
		}
	}
	return r
}
