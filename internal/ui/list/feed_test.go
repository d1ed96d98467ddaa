package list_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// TestSpare wants a narrow terminal to get a table without the spare columns. Any other
// output has all columns.
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
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			l := nodes(3)
			f := &list.Feed{Out: streamTo(&out, tty.Stream{}), Format: tt.format, Columns: l.Columns}
			for _, items := range [][]list.Item{nil, l.Items[:2], {{Cells: []string{"longer\x07", "", ""}, Name: "longer\x07", Data: thing{Name: "longer\x07"}}}, l.Items[2:]} {
				if err := f.Add(items...); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	if err := (&list.Feed{Out: streamTo(closed{}, tty.Stream{}), Columns: nodes(0).Columns}).Add(nodes(1).Items...); err == nil {
		t.Error("Print hides that the feed can't be written")
	}
}

// TestListFooter wants a footer even without a table, and sums instead of it in JSON.
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
	d := &list.Details{Facts: []list.Fact{{Name: "Node", Text: "n"}}, More: []list.Section{{Title: "Empty"}, {Title: "Events", List: *nodes(1)}}}
	if err := list.PrintDetails(d, tty.Table, streamTo(&out, tty.Stream{})); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("Node:   n\n\nEvents:\nNODE   STATE\na      Degraded: NotReady\n", out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
