package list

import (
	"strings"

	"github.com/lynqctl/lynqctl/internal/page"
	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// page returns the list as a page for a browser, with all columns.
func (l *List) page() (string, error) {
	p := &page.Page{Title: "lynqctl", Facts: l.Footer}
	if len(l.Items) == 0 {
		p.Facts = append(p.Facts, l.Empty)
	} else {
		p.Tables = []page.Table{l.pageTable("")}
	}
	for _, w := range l.Warnings {
		p.Notices = append(p.Notices, page.Notice{Label: "warning", Text: w})
	}
	return written(p)
}

func written(p *page.Page) (string, error) {
	var b strings.Builder
	err := page.Write(&b, p)
	return b.String(), err
}

// pageTable returns the list as a table of a page.
func (l *List) pageTable(title string) page.Table {
	t := page.Table{Title: title}
	for _, c := range l.Columns {
		t.Columns = append(t.Columns, c.Name)
	}
	tones := map[tty.Tone]page.Tone{tty.Good: page.Good, tty.Worry: page.Worry, tty.Bad: page.Bad}
	for i := range l.Items {
		item := &l.Items[i]
		row := page.Row{Tone: tones[item.Tone]}
		for k, cell := range item.Cells {
			switch {
			case cell == "":
				cell = "-"
			case k == 0:
				cell = strings.Repeat("\u00a0\u00a0", item.Depth) + cell
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// detailsPage shows the details of several things on one page.
func detailsPage(all []*Details) (string, error) {
	p := &page.Page{Title: "lynqctl"}
	for _, d := range all {
		facts := page.Table{Columns: []string{"FIELD", "VALUE"}}
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
