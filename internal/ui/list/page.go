package list

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/page"
)

// page returns the list as a page for a browser, with all columns that have a value.
func (l *List) page() (string, error) {
	p := &page.Page{Title: l.pageTitle(), Facts: slices.Concat(l.Footer, l.Advice)}
	if len(l.Items) == 0 {
		p.Facts = append(p.Facts, l.Empty)
	} else {
		p.Tables = []page.Table{l.pageTable("")}
	}
	for _, w := range l.Warnings {
		p.Notices = append(p.Notices, page.Notice{Label: "warning", Text: w, Tone: page.Worry})
	}
	return written(p)
}

// pageTitle returns the title of the list's page.
func (l *List) pageTitle() string {
	title := strings.TrimSpace("lynqctl " + l.Title)
	if !l.At.IsZero() {
		title += ", " + l.At.UTC().Format(time.RFC3339)
	}
	return title
}

func written(p *page.Page) (string, error) {
	var b strings.Builder
	err := page.Write(&b, p)
	return b.String(), err
}

// pageTable returns the list as a table of a page.
func (l *List) pageTable(title string) page.Table {
	t := page.Table{Title: title}
	var shown []int
	for i, c := range l.Columns {
		if i == 0 || slices.ContainsFunc(l.Items, func(item Item) bool { return valued(item.Cells[i]) }) {
			shown, t.Columns = append(shown, i), append(t.Columns, page.Column{Name: c.Name, Toned: c.Toned})
		}
	}
	tones := map[tty.Tone]page.Tone{tty.Good: page.Good, tty.Worry: page.Worry, tty.Bad: page.Bad}
	for i := range l.Items {
		item := &l.Items[i]
		row := page.Row{Tone: tones[item.Tone]}
		for _, k := range shown {
			cell := cmp.Or(item.Cells[k], "-")
			if k == 0 {
				cell = strings.Repeat("\u00a0\u00a0", item.Depth) + cell
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	if l.Urgent && l.SortBy == "" {
		slices.SortStableFunc(t.Rows, func(a, b page.Row) int { return urgency(b.Tone) - urgency(a.Tone) })
	}
	return t
}

// valued reports whether a cell has more than nothing.
func valued(cell string) bool { return cell != "" && cell != "-" && cell != "0" }

// urgency orders the items of a page.
func urgency(t page.Tone) int { return slices.Index([]page.Tone{page.Worry, page.Bad}, t) }

// detailsPage shows the details of several things on one page.
func detailsPage(all []*Details) (string, error) {
	p := &page.Page{Title: "lynqctl"}
	for _, d := range all {
		p.Title = d.Parts.pageTitle()
		facts := page.Table{Columns: []page.Column{{Name: "FIELD"}, {Name: "VALUE"}}}
		for _, f := range d.Facts {
			if f.Text != "" {
				facts.Rows = append(facts.Rows, page.Row{Cells: []string{f.Name, f.Text}})
			}
		}
		p.Tables = append(p.Tables, facts)
		if len(d.Parts.Items) > 0 {
			p.Tables = append(p.Tables, d.Parts.pageTable(""))
		}
		for i := range d.More {
			if m := &d.More[i]; len(m.Items) > 0 {
				p.Tables = append(p.Tables, m.pageTable(m.Title))
			}
		}
	}
	return written(p)
}
