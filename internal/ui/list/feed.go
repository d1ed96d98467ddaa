package list

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// Feed appends items as they come: as lines of a table, names, or one JSON object per line.
type Feed struct {
	Out     tty.Stream
	Format  tty.Format // any of Formats except YAML
	Columns []Column

	widths []int // of the table so far, nil before its head
}

// Add appends items.
func (f *Feed) Add(items ...Item) error {
	if len(items) == 0 {
		return nil
	}
	text, err := f.text(items)
	return f.Out.WriteText("list", f.Format, text, err)
}

func (f *Feed) text(items []Item) (string, error) {
	l := List{Columns: f.Columns, Items: items}
	switch f.Format {
	case tty.Name:
		return l.names(), nil
	case tty.JSON:
		var b strings.Builder
		for i := range items {
			line, err := json.Marshal(items[i].Data)
			if err != nil {
				return "", err
			}
			b.Write(append(tty.SafeJSON(line), '\n'))
		}
		return b.String(), nil
	}
	return f.rows(&l), nil
}

// rows returns lines of the table. Columns grow, but never become narrower, because an
// invisible row of blanks keeps their width.
func (f *Feed) rows(l *List) string {
	rows, shown := l.cells(f.Format == tty.Wide)
	if f.widths != nil {
		rows = rows[1:]
	}
	blanks := make([]string, len(shown))
	for i, width := range f.widths {
		blanks[i] = strings.Repeat(" ", width)
	}
	rows = slices.Insert(rows, 0, blanks)
	f.widths = tty.WidthsOf(rows)
	_, text, _ := strings.Cut(tty.Align("", tty.ColumnGap, rows), "\n")
	return text
}
