package list

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// List is a list that a command prints, in the order to show.
type List struct {
	Columns []Column
	Items   []Item
	// Empty is the text for a list without items: "No orphans found".
	Empty string
	// Warnings say what may be missing. They are also in JSON and YAML.
	Warnings []string
	// Footer has the lines below the table. JSON and YAML have Sums instead: plain data,
	// nil for nothing.
	Footer []string
	Sums   any
	// Advice has lines for people at a terminal, below all others.
	Advice []string

	// Title is the command of a page for a browser, such as status. At is the time that ages
	// in the list count from.
	Title string
	At    time.Time
	// Urgent makes a page show the items first that need attention, unless SortBy is set.
	Urgent bool

	// SortBy is a path in the items' Data by which Print sorts them. "" keeps their order.
	SortBy string
	// NoHeaders omits the names of the columns.
	NoHeaders bool
}

// Column is a column of the table.
type Column struct {
	Name string
	// Wide shows the column only with -o wide.
	Wide bool
	// Flexible allows cutting the cells on a narrow terminal.
	Flexible bool
	// Needed cuts the cells only after those of other columns.
	Needed bool
	// Spare drops the column on a terminal that is still too narrow.
	Spare bool
	// Wrapped continues the cells in further lines. Only the last column may have it.
	Wrapped bool
	// Toned colours the cells by their item's Tone.
	Toned bool
}

// Item is one item of a list.
type Item struct {
	Cells []string // one for each column; "" shows as "-"
	Name  string   // for -o name
	Data  any      // a struct of plain data for -o json and -o yaml
	Tone  tty.Tone
	// Cause is the same for items with the same problem, "" for none. A long list shows few
	// items of one cause.
	Cause string
	// Depth is the item's depth in a tree. The table draws branches before the first cells.
	Depth int
}

// NamedOfCause limits how many items with the same cause are named.
const NamedOfCause = 3

// Few is the largest number of items for which a list shows each, whatever their causes.
const Few = 20

// MostOfCause is the largest number of items with one cause that a longer list shows in
// full.
const MostOfCause = 10

// Formats returns the formats of Print without a template.
func Formats() []tty.Format {
	return []tty.Format{tty.Table, tty.Wide, tty.JSON, tty.YAML, tty.Name, tty.HTML}
}

// Print prints a list to out. It prints warnings to standard error, and the text for an
// empty list.
func Print(l *List, format tty.Format, out, err tty.Stream) error {
	Warn(err, l.Warnings)
	text, problem := l.text(format, out)
	if problem := out.WriteText("list", format, text, problem); problem != nil {
		return problem
	}
	if len(l.Items) == 0 && TellsEmpty(format) {
		_, _ = fmt.Fprintln(err, tty.Safe(l.Empty))
	}
	return nil
}

// TellsEmpty reports whether Print shows the text for an empty list. It does so in formats
// for people.
func TellsEmpty(format tty.Format) bool {
	return slices.Contains([]tty.Format{tty.Table, tty.Wide, tty.Name}, format)
}

// Warn prints warnings, and ignores errors of the stream. If warnings differ only in names,
// it prints some and counts the rest.
func Warn(err tty.Stream, warnings []string) {
	names := regexp.MustCompile(`\S*[/0-9]\S*`)
	kinds := map[string]int{}
	for _, w := range warnings {
		kinds[names.ReplaceAllString(w, "NAME")]++
	}
	told := map[string]int{}
	for _, w := range warnings {
		kind := names.ReplaceAllString(w, "NAME")
		switch told[kind]++; {
		case kinds[kind] <= MostOfCause || told[kind] <= NamedOfCause:
			_, _ = fmt.Fprintln(err, err.Fitted("warning: "+tty.Safe(w)))
		case told[kind] == kinds[kind]:
			_, _ = fmt.Fprintln(err, err.Fitted(fmt.Sprintf("warning: %d more like the last one", kinds[kind]-NamedOfCause)))
		}
	}
}

func (l *List) text(format tty.Format, out tty.Stream) (string, error) {
	items, err := l.sorted()
	if err != nil {
		return "", err
	}
	shown := *l
	shown.Items = items
	switch format {
	case tty.Table, tty.Wide:
		return shown.lines(format == tty.Wide, out), nil
	case tty.Name:
		return shown.names(), nil
	case tty.HTML:
		return shown.page()
	}
	return shown.data(format, shown.document(), out)
}

// data returns the text for programs: a document, or the list with other columns.
func (l *List) data(format tty.Format, document any, out tty.Stream) (string, error) {
	name, template, _ := strings.Cut(string(format), "=")
	switch name {
	case string(tty.JSON):
		return asJSON(document)
	case string(tty.YAML):
		return YAML(document)
	case customColumns:
		return l.custom(template, out)
	}
	return templated(name, template, document)
}

// lines returns the table, unless it is empty, and the lines below it.
func (l *List) lines(wide bool, out tty.Stream) string {
	var b strings.Builder
	if len(l.Items) > 0 {
		shown, more := *l, ""
		if !wide && !l.NoHeaders && len(l.Items) > Few {
			shown.Items, more = l.atAGlance()
		}
		b.WriteString(shown.Table(wide, out) + more)
		if len(l.Footer) > 0 {
			b.WriteByte('\n')
		}
	}
	below := l.Footer
	if out.Terminal {
		below = slices.Concat(l.Footer, l.Advice)
	}
	for _, line := range below {
		b.WriteString(out.Fitted(tty.Safe(line)) + "\n")
	}
	return b.String()
}

// atAGlance drops most items of a common cause, and counts them in a line. Scripts that
// read lines get all items with NoHeaders, or -o wide.
func (l *List) atAGlance() (shown []Item, more string) {
	all, kept := map[string]int{}, map[string]int{}
	for i := range l.Items {
		all[l.Items[i].Cause]++
	}
	for _, item := range l.Items {
		if item.Cause != "" && all[item.Cause] > MostOfCause {
			if kept[item.Cause]++; kept[item.Cause] > NamedOfCause {
				continue
			}
		}
		shown = append(shown, item)
	}
	if left := len(l.Items) - len(shown); left > 0 {
		more = fmt.Sprintf("... and %d more with the same error; -o wide lists all\n", left)
	}
	return shown, more
}

// names returns a line for each name. It escapes unprintable ones, because programs read
// lines.
func (l *List) names() string {
	var b strings.Builder
	for i := range l.Items {
		b.WriteString(tty.Safe(l.Items[i].Name) + "\n")
	}
	return b.String()
}

// Table returns the table with the columns of the format. On a terminal, it cuts flexible
// cells to fit. On a narrower one, it wraps the lines of the whole table.
func (l *List) Table(wide bool, out tty.Stream) string {
	rows, shown := l.cells(wide)
	gap, columns := tty.ColumnGap, 0
	if out.Terminal && !wide {
		columns, _ = out.Extent()
		gap = fit(rows, shown, columns)
		if narrow := tty.TooWide("", gap, tty.WidthsOf(rows), shown[len(shown)-1].Wrapped, columns); narrow && slices.ContainsFunc(shown, spare) {
			return l.withoutSpare().Table(wide, out)
		} else if narrow {
			rows, _ = l.cells(wide)
		}
	}
	l.paint(rows, shown, out.Paint())
	if l.NoHeaders {
		rows = rows[1:]
	}
	if shown[len(shown)-1].Wrapped {
		return tty.FlowBy("", gap, rows, columns, !l.NoHeaders)
	}
	return tty.Align("", gap, rows)
}

func spare(c Column) bool { return c.Spare }

// withoutSpare returns the list without its spare columns.
func (l *List) withoutSpare() *List {
	left := *l
	left.Columns = slices.Clone(l.Columns)
	for i := range left.Columns {
		if spare(left.Columns[i]) {
			left.Columns[i] = Column{Name: left.Columns[i].Name, Wide: true}
		}
	}
	return &left
}

// paint colours the head of a table, and the cells that have a tone.
func (l *List) paint(rows [][]string, shown []Column, p tty.Paint) {
	for i := range rows[0] {
		rows[0][i] = p.Bold(rows[0][i])
	}
	for j := range shown {
		for i := range l.Items {
			if shown[j].Toned {
				rows[i+1][j] = p.Tone(l.Items[i].Tone, rows[i+1][j])
			}
		}
	}
}

// shown returns the indexes of the columns that a table shows.
func (l *List) shown(wide bool) []int {
	var shown []int
	for i, c := range l.Columns {
		if !c.Wide || wide {
			shown = append(shown, i)
		}
	}
	return shown
}

// cells returns the head and the rows of a table, and its columns.
func (l *List) cells(wide bool) (rows [][]string, shown []Column) {
	places := l.shown(wide)
	var head []string
	for _, column := range places {
		head, shown = append(head, l.Columns[column].Name), append(shown, l.Columns[column])
	}
	rows = append(rows, head)
	for i := range l.Items {
		row := make([]string, len(places))
		for j, column := range places {
			if row[j] = tty.Safe(l.Items[i].Cells[column]); row[j] == "" {
				row[j] = "-"
			}
		}
		rows = append(rows, row)
	}
	if slices.ContainsFunc(l.Items, func(i Item) bool { return i.Depth > 0 }) {
		l.branch(rows[1:])
	}
	return rows, shown
}

// branch draws branches before the first cells.
func (l *List) branch(rows [][]string) {
	texts, depths := make([]string, len(rows)), make([]int, len(rows))
	for i, row := range rows {
		texts[i], depths[i] = row[0], l.Items[i].Depth
	}
	for i, text := range branched(texts, depths) {
		rows[i][0] = text
	}
}

// leastCell is the smallest width of a cut cell.
const leastCell = 8

// fit cuts cells, the widest columns first, until the table fits into the columns. It
// returns the gap between columns. If the table can't be that narrow, the terminal wraps
// it. fit doesn't cut a wrapped column, and leaves it some room if no other cell must be
// cut for that.
func fit(rows [][]string, shown []Column, columns int) int {
	widths := tty.WidthsOf(rows)
	if last := len(widths) - 1; shown[last].Wrapped {
		widths[last] = min(widths[last], tty.LeastRoom)
	}
	for gap := tty.ColumnGap; gap > tty.NarrowGap; gap-- {
		if tty.WidthBy(gap, widths) <= columns {
			return gap
		}
	}
	if last := len(widths) - 1; shown[last].Wrapped {
		widths[last] = min(widths[last], leastCell)
	}
	for over := tty.WidthBy(tty.NarrowGap, widths) - columns; over > 0; over-- {
		widest := widestOf(shown, widths, false)
		if widest < 0 {
			widest = widestOf(shown, widths, true)
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	for _, row := range rows {
		for i := range row {
			if !shown[i].Wrapped {
				row[i] = ansi.Truncate(row[i], widths[i], "…")
			}
		}
	}
	return tty.NarrowGap
}

// widestOf returns the widest column that may be cut, or -1.
func widestOf(shown []Column, widths []int, needed bool) int {
	widest := -1
	for i, w := range widths {
		if shown[i].Flexible && shown[i].Needed == needed && w > leastCell && (widest < 0 || w > widths[widest]) {
			widest = i
		}
	}
	return widest
}
