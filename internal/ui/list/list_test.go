package list_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/ui/list"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// thing is an item in these tests.
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

// printed returns the output of Print.
func printed(t *testing.T, l *list.List, format tty.Format, columns int, color bool) (out, err string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	o := streamTo(&stdout, tty.Stream{Terminal: columns > 0, Color: color, Size: func() (int, int) { return columns, 24 }})
	if err := list.Print(l, format, o, streamTo(&stderr, tty.Stream{})); err != nil {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String()
}

func TestPrint(t *testing.T) {
	for name, test := range map[string]struct {
		format  tty.Format
		columns int // of the terminal, 0 for none
		color   bool
		want    string
	}{
		"table": {tty.Table, 0, false, `
KIND                    NAME       NOTE
PersistentVolumeClaim   data       a note of some length
Secret                  web        -
Secret                  b\x1b[2J   Größe; \u202e
`},
		"a terminal that is wide enough": {tty.Table, 56, true, `
` + "\x1b[1mKIND\x1b[m                    \x1b[1mNAME\x1b[m       \x1b[1mNOTE\x1b[m" + `
PersistentVolumeClaim   data       a note of some length
Secret                  web        -
Secret                  b\x1b[2J   Größe; \u202e
`},
		"a narrower one": {tty.Table, 53, false, `
KIND                  NAME     NOTE
PersistentVolumeClaim data     a note of some length
Secret                web      -
Secret                b\x1b[2J Größe; \u202e
`},
		"a narrow terminal": {tty.Table, 40, false, `
KIND            NAME     NOTE
PersistentVolu… data     a note of some…
Secret          web      -
Secret          b\x1b[2J Größe; \u202e
`},
		"a terminal that is too narrow for a table": {tty.Table, 25, false, `
KIND                  NAME     NOTE
PersistentVolumeClaim data     a note of some length
Secret                web      -
Secret                b\x1b[2J Größe; \u202e
`},
		"wide, on a narrow terminal": {tty.Wide, 40, false, `
KIND                    NAME       NOTE                    UID
PersistentVolumeClaim   data       a note of some length   u-1
Secret                  web        -                       u-2
Secret                  b\x1b[2J   Größe; \u202e           u-3
`},
		"name": {tty.Name, 40, false, `
PersistentVolumeClaim/shop/data
Secret/shop/web
b\x1b[2J
`},
		"json": {tty.JSON, 40, true, `
{
  "apiVersion": "v1",
  "kind": "List",
  "items": [
    {
      "name": "data",
      "count": 1,
      "note": "<a>"
    },
    {
      "name": "web",
      "count": 2
    },
    {
      "name": "b\u001b[2J",
      "count": 3,
      "note": "Größe\n\u202e"
    }
  ],
  "warnings": [
    "one\nmore \u0007"
  ]
}
`},
		"yaml": {tty.YAML, 40, true, `
apiVersion: v1
items:
- count: 1
  name: data
  note: <a>
- count: 2
  name: web
- count: 3
  name: "b\e[2J"
  note: |-
    Größe
    \u202e
kind: List
warnings:
- "one\nmore \a"
`},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := printed(t, things(), test.format, test.columns, test.color)
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), out); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if err != "warning: one; more \\x07\n" {
				t.Errorf("standard error has %q", err)
			}
		})
	}
}

func TestPrintNothing(t *testing.T) {
	nothing := &list.List{Columns: things().Columns, Empty: "No things found"}
	for format, want := range map[tty.Format][2]string{
		tty.Table: {"", "No things found\n"},
		tty.Wide:  {"", "No things found\n"},
		tty.Name:  {"", "No things found\n"},
		tty.JSON:  {"{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"List\",\n  \"items\": []\n}\n", ""},
		tty.YAML:  {"apiVersion: v1\nitems: []\nkind: List\n", ""},
	} {
		t.Run(string(format), func(t *testing.T) {
			if out, err := printed(t, nothing, format, 80, false); out != want[0] || err != want[1] {
				t.Errorf("%s: got %q and %q, want %q and %q", format, out, err, want[0], want[1])
			}
		})
	}
}

// closed is a pipe without a reader.
type closed struct{}

var errClosed = errors.New("broken pipe")

func (closed) Write([]byte) (int, error) { return 0, errClosed }

func TestPrintFails(t *testing.T) {
	err := list.Print(things(), tty.Table, streamTo(closed{}, tty.Stream{}), streamTo(closed{}, tty.Stream{}))
	if !errors.Is(err, errClosed) || !strings.Contains(err.Error(), "write the list") {
		t.Errorf("got %v", err)
	}
}

// TestManyOfOneCause wants few lines for hundreds of items and warnings of one cause, and
// the advice last on a terminal. Few items have a line each, and so have items without
// headers.
func TestManyOfOneCause(t *testing.T) {
	l := &list.List{Columns: []list.Column{{Name: "NODE"}}, Footer: []string{"1 hub"}, Advice: []string{"Run that for details."}}
	for i := range 302 {
		l.Items = append(l.Items, list.Item{Cells: []string{fmt.Sprintf("t%03d-web", i)}, Cause: "exceeded quota"})
		l.Warnings = append(l.Warnings, fmt.Sprintf("ConfigMap shop/lynqnode-t%03d-web can't be read", i))
	}
	var out, err bytes.Buffer
	if err := list.Print(l, tty.Table, streamTo(&out, tty.Stream{Terminal: true}), streamTo(&err, tty.Stream{})); err != nil {
		t.Fatal(err)
	}
	want := `NODE
t000-web
t001-web
t002-web
... and 299 more with the same error; -o wide lists all

1 hub
Run that for details.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	if n := strings.Count(err.String(), "\n"); n != 4 || !strings.HasSuffix(err.String(), "warning: 299 more like the last one\n") {
		t.Errorf("%d lines of warnings:\n%s", n, err.String())
	}
	few := *l
	few.Items = l.Items[:20]
	headless := *l
	headless.NoHeaders = true
	for name, of := range map[string]struct {
		list   *list.List
		format tty.Format
		lines  int
	}{
		"pipe":    {l, tty.Table, 1 + 3 + 1 + 2},
		"few":     {&few, tty.Table, 1 + 20 + 2},
		"scripts": {&headless, tty.Table, 302 + 2},
		"wide":    {l, tty.Wide, 1 + 302 + 2},
		"name":    {l, tty.Name, 302},
	} {
		t.Run(name, func(t *testing.T) {
			out.Reset()
			if err := list.Print(of.list, of.format, streamTo(&out, tty.Stream{}), streamTo(&err, tty.Stream{})); err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(out.String(), "\n"); n != of.lines {
				t.Errorf("%d lines, want %d", n, of.lines)
			}
		})
	}
}
