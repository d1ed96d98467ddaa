package list

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// List is what a command lists, in the order in which it is to be shown.
type List struct {
	Columns []Column
	Items   []Item
	// Empty is what is said where there is nothing: "No orphans found".
	Empty string
	// Warnings tell what may be missing. A script that reads JSON or YAML
	// finds them there too.
	Warnings []string
	// Footer are lines that follow on the table, and Sums what JSON and YAML
	// have in their place: plain data, nil for nothing.
	Footer []string
	Sums   any
	// Advice are lines for people at a terminal, below all others.
	Advice []string

	// SortBy is a path of the items' Data that they are sorted by, "" for the order
	// that they have.
	SortBy string
	// NoHeaders leaves out the names of the columns.
	NoHeaders bool
}

// Column is a column of the table.
type Column struct {
	Name string
	// Wide: it is shown by -o wide only.
	Wide bool
	// Flexible: on a terminal that is too narrow its cells may be cut.
	Flexible bool
	// Needed: they are cut only where it is not enough to cut others.
	Needed bool
	// Spare: on a terminal that is too narrow even so it is left out.
	Spare bool
	// Wrapped: it is the last one, and there its cells go on in further lines.
	Wrapped bool
	// Toned: its cells have their item's Tone.
	Toned bool
}

// Item is one of the things that are listed.
type Item struct {
	Cells []string // one for each column; "" is shown as "-"
	Name  string   // what -o name prints
	Data  any      // what -o json and -o yaml print: a struct of plain data
	Tone  tty.Tone
	// Cause is the same for items with which the same is wrong, "" where nothing is. A long
	// list shows few items of one cause.
	Cause string
	// Depth is how deep it is below those above it: the table draws branches before the
	// first cells.
	Depth int
}

// NamedOfCause is how many of the items that share a cause are named.
const NamedOfCause = 3

// Few is how many items a list has at most that shows each of them, whatever their causes.
const Few = 20

// MostOfCause is how many items of one cause a longer list has at most without leaving some
// out.
const MostOfCause = 10

// Formats returns the formats that Print knows and that take no template.
func Formats() []tty.Format {
	return []tty.Format{tty.Table, tty.Wide, tty.JSON, tty.YAML, tty.Name, tty.HTML}
}

// Print prints a list to out. Warnings go to standard error, and where there
// is nothing, a word about that.
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

// TellsEmpty tells whether Print says in words that there is nothing: in formats
// for people, which programs do not read.
func TellsEmpty(format tty.Format) bool {
	return slices.Contains([]tty.Format{tty.Table, tty.Wide, tty.Name}, format)
}

// Warn prints warnings, and ignores errors of the stream. Of warnings that differ only in
// names, it prints a few and counts the rest.
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

// data is what programs read: a document, or the list with other columns.
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

// lines are the table, where there is anything in it, and what follows on it.
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

// atAGlance leaves most items out of which many have one cause. A line counts them. Scripts
// that read lines ask for all with NoHeaders, or -o wide.
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

// names has a line for each name, also where one does not print: programs read lines.
func (l *List) names() string {
	var b strings.Builder
	for i := range l.Items {
		b.WriteString(tty.Safe(l.Items[i].Name) + "\n")
	}
	return b.String()
}

// Table is the columns that the format has. On a terminal it is made as narrow
// as that is, as far as its cells may be cut; one that is narrower yet wraps the lines of the
// whole table.
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

// withoutSpare is a list without the columns that can be spared.
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

// shown are the columns that a table has.
func (l *List) shown(wide bool) []int {
	var shown []int
	for i, c := range l.Columns {
		if !c.Wide || wide {
			shown = append(shown, i)
		}
	}
	return shown
}

// cells are the head and the rows of a table, and its columns.
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

// leastCell is how wide cells are at least that are cut.
const leastCell = 8

// fit cuts cells until a table is no wider than so many columns, the widest
// ones first, and gives the gap between columns. A table that cannot be so
// narrow is left to the terminal to wrap. A column that will be wrapped is not cut;
// it gets some room where nothing else has to be cut for it.
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

// widestOf is the widest column that may be cut, -1 for none.
func widestOf(shown []Column, widths []int, needed bool) int {
	widest := -1
	for i, w := range widths {
		if shown[i].Flexible && shown[i].Needed == needed && w > leastCell && (widest < 0 || w > widths[widest]) {
			widest = i
		}
	}
	return widest
}
