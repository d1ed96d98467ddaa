package ui_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lynqctl/lynqctl/internal/ui"
	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

type thing struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
	Note  string `json:"note,omitempty"`
}

// things returns a list whose last item contains unprintable characters.
func things() *list.List {
	return &list.List{
		Columns: []list.Column{{Name: "KIND", Flexible: true}, {Name: "NAME"}, {Name: "NOTE", Flexible: true}, {Name: "UID", Wide: true}},
		Items: []list.Item{
			{Cells: []string{"PersistentVolumeClaim", "data", "a note of some length", "u-1"}, Name: "PersistentVolumeClaim/shop/data", Data: thing{"data", 1, "<a>"}},
			{Cells: []string{"Secret", "web", "", "u-2"}, Name: "Secret/shop/web", Data: thing{"web", 2, ""}},
			{Cells: []string{"Secret", "b\x1b[2J", "Größe\n\u202e", "u-3"}, Name: "b\x1b[2J", Data: thing{"b\x1b[2J", 3, "Größe\n\u202e"}},
		},
		Empty: "No things found", Warnings: []string{"one\nmore \x07"},
	}
}

// closed is a pipe without a reader.
type closed struct{}

var errClosed = errors.New("broken pipe")

func (closed) Write([]byte) (int, error) { return 0, errClosed }

// choose types an answer, and also returns the output.
func choose(t *testing.T, answer string) (chosen []int, shown string) {
	t.Helper()
	var stderr bytes.Buffer
	chosen, err := ui.Choose(strings.NewReader(answer), ui.StreamTo(&stderr, tty.Stream{}), things(), "Take which?")
	if err != nil {
		t.Fatalf("%q: %v", answer, err)
	}
	return chosen, stderr.String()
}

func TestChoose(t *testing.T) {
	for answer, want := range map[string][]int{
		"":                     nil, // the end of the input
		"1":                    nil, // nobody ended the line
		"\n":                   nil,
		"  \t\n":               nil,
		"1\n":                  {0},
		" 3 \r\n":              {2},
		"1,3\n":                {0, 2},
		"3 1\n":                {0, 2},
		"1-3\n":                {0, 1, 2},
		"2-2\n":                {1},
		"2-3,1\n":              {0, 1, 2},
		"1,1,1-2\n":            {0, 1},
		",,2,\n":               {1},
		"all\n":                {0, 1, 2},
		" ALL \n":              {0, 1, 2},
		"nonsense\n2\n":        {1},
		"0\n4\n1-4\n3-1\n2\n":  {1},
		"-1\n1-\n-\n1--2\n2\n": {1},
		"1,all\n2\n":           {1},
		"1.5\n1,x\n\n":         nil,
		"99999999999999999999999\n1-99999999999999999999\n2\n": {1},
	} {
		t.Run(answer, func(t *testing.T) {
			got, shown := choose(t, answer)
			if !slices.Equal(got, want) {
				t.Errorf("%q: chosen are %v, want %v:\n%s", answer, got, want, shown)
			}
			lines := strings.Count(answer, "\n")
			if strings.Count(shown, "Take which?") != max(1, lines) {
				t.Errorf("%q: it did not ask once for each line:\n%s", answer, shown)
			}
		})
	}
}

func TestChooseShows(t *testing.T) {
	_, shown := choose(t, "1-9\n\x1b[2J\n2\n")
	want := `#   KIND                    NAME       NOTE
1   PersistentVolumeClaim   data       a note of some length
2   Secret                  web        -
3   Secret                  b\x1b[2J   Größe; \u202e
Take which? [numbers such as 1,3-5, all, or nothing for none] "1-9" is none of 1 to 3
Take which? [numbers such as 1,3-5, all, or nothing for none] "\\x1b[2J" is none of 1 to 3
Take which? [numbers such as 1,3-5, all, or nothing for none] `
	if shown != want {
		t.Errorf("it shows\n%s\nwant\n%s", shown, want)
	}
}

func TestChooseFails(t *testing.T) {
	broken := errors.New("the line broke")
	if _, err := ui.Choose(iotest.ErrReader(broken), ui.StreamTo(&bytes.Buffer{}, tty.Stream{}), things(), "Which?"); !errors.Is(err, broken) {
		t.Errorf("it can't be read, and that is told as %v", err)
	}
	if _, err := ui.Choose(strings.NewReader("1\n"), ui.StreamTo(closed{}, tty.Stream{}), things(), "Which?"); !errors.Is(err, errClosed) {
		t.Errorf("it cannot be shown, and that is told as %v", err)
	}
}

func TestConfirm(t *testing.T) {
	for answer, want := range map[string]bool{
		"y\n": true, "Y\n": true, " yes \r\n": true, "YES\n": true,
		"n\n": false, "no\n": false, "\n": false, "": false, "yeah\n": false, "y y\n": false, "n\ny\n": false,
		// An answer without a line end doesn't count.
		"y": false, "yes": false,
	} {
		t.Run(answer, func(t *testing.T) {
			var stderr bytes.Buffer
			got, err := tty.Confirm(strings.NewReader(answer), ui.StreamTo(&stderr, tty.Stream{}), "Go on\x1b[2J?")
			if err != nil || got != want {
				t.Errorf("%q: %v, %v, want %v", answer, got, err, want)
			}
			if text := strings.TrimSuffix(stderr.String(), "\n"); text != `Go on\x1b[2J? [y/N] ` {
				t.Errorf("it asks %q", text)
			}
		})
	}
	broken := errors.New("the line broke")
	if yes, err := tty.Confirm(iotest.ErrReader(broken), ui.StreamTo(&bytes.Buffer{}, tty.Stream{}), "Go on?"); yes || !errors.Is(err, broken) {
		t.Errorf("it can't be read, and that is told as %v, %v", yes, err)
	}
	if yes, err := tty.Confirm(strings.NewReader("y\n"), ui.StreamTo(closed{}, tty.Stream{}), "Go on?"); yes || !errors.Is(err, errClosed) {
		t.Errorf("it cannot be asked, and that is told as %v, %v", yes, err)
	}
}

// TestCanAsk wants no question if input or output isn't a terminal.
func TestCanAsk(t *testing.T) {
	if tty.CanAsk(strings.NewReader("y\n"), tty.Stream{Size: func() (int, int) { return 80, 24 }}) {
		t.Error("a reader that is no terminal can answer")
	}
	if tty.CanAsk(nil, tty.Stream{}) {
		t.Error("nobody can answer")
	}
}

// TestConfirmName wants the exact name. Anything else is a no, and so is the end of the
// input.
func TestConfirmName(t *testing.T) {
	for answer, want := range map[string]bool{"crm\n": true, "crm \r\n": true, "crm": false, "CRM\n": false, "y\n": false, "\n": false, "": false} {
		t.Run(answer, func(t *testing.T) {
			var err bytes.Buffer
			got, problem := tty.ConfirmName(strings.NewReader(answer), ui.StreamTo(&err, tty.Stream{}), "Delete hub crm?", "crm")
			if got != want || problem != nil {
				t.Errorf("%q: %v, %v", answer, got, problem)
			}
			if !strings.HasPrefix(err.String(), "Delete hub crm? [type crm to confirm] ") {
				t.Errorf("asked: %q", err.String())
			}
		})
	}
}
