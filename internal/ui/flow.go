package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Where the last cells of a table do not fit, they go on in further lines: in their
// own column where that leaves them so much room, else beneath their rows, indented.
const (
	leastRoom     = 30
	beneathIndent = "      "
)

// flow is align for a terminal of so many columns, where last cells may be texts of
// any length. 0 columns are any number.
func flow(indent string, rows [][]string, columns int) string {
	return flowBy(indent, flowGap(indent, rows, columns), rows, columns, false)
}

// flowGap is the widest gap that leaves last cells some room.
func flowGap(indent string, rows [][]string, columns int) int {
	widths := widthsOf(rows)
	if columns == 0 || len(widths) == 0 {
		return columnGap
	}
	widths[len(widths)-1] = min(widths[len(widths)-1], leastRoom)
	for gap := columnGap; gap > narrowGap; gap-- {
		if len(indent)+widthBy(gap, widths) <= columns {
			return gap
		}
	}
	return narrowGap
}

// widthBy is the width of a table.
func widthBy(gap int, widths []int) int {
	total := -gap
	for _, w := range widths {
		total += w + gap
	}
	return total
}

// flowBy is flow with a gap between columns, and perhaps a head in the first row.
func flowBy(indent string, gap int, rows [][]string, columns int, head bool) string {
	widths := widthsOf(rows)
	last := len(widths) - 1
	switch {
	case columns == 0 || last < 0:
		return alignBy(indent, gap, rows)
	case tooWide(indent, gap, widths, true, columns) && head:
		return records(rows, columns)
	case tooWide(indent, gap, widths, true, columns):
		return folded(indent, rows, columns)
	}
	start := len(indent) + widthBy(gap, widths[:last]) + gap
	room := columns - start
	var b strings.Builder
	for n, row := range rows {
		var text string
		if len(row) > last {
			row, text = row[:last], row[last]
		}
		var cells strings.Builder
		for i, cell := range row {
			cells.WriteString(cell + strings.Repeat(" ", widths[i]+gap-ansi.StringWidth(cell)))
		}
		line := indent + cells.String()
		switch {
		case ansi.StringWidth(text) <= room:
			line += text
		case room >= leastRoom:
			line += strings.Join(wrapped(text, room), "\n"+strings.Repeat(" ", start))
		case head && n == 0: // what is beneath rows needs none
		default:
			under := "\n" + indent + beneathIndent
			line = strings.TrimRight(line, " ") + under + strings.Join(wrapped(text, columns-len(under)+1), under)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// hyphen is in the place of hyphens while words are wrapped: Wordwrap breaks lines
// after them, and names and flags are to stay whole. It is for private use, so that
// no text has it that is safe.
const hyphen = "\ue000"

// wrapped is a text in lines of so many columns, broken between words. A word that
// is longer has a line of its own, which the terminal breaks.
func wrapped(text string, columns int) []string {
	text = ansi.Wordwrap(strings.ReplaceAll(text, "-", hyphen), columns, "")
	return strings.Split(strings.ReplaceAll(text, hyphen, "-"), "\n")
}

// hanging is a line that is broken between words for a terminal of so many columns,
// the parts after the first indented.
func hanging(line string, columns int) string {
	const indent = "    "
	if ansi.StringWidth(line) <= columns || columns < leastRoom {
		return line
	}
	first := wrapped(line, columns)[0]
	rest := strings.TrimPrefix(line[len(first):], " ")
	if rest == "" {
		return first
	}
	return first + "\n" + indent + strings.Join(wrapped(rest, columns-len(indent)), "\n"+indent)
}

// fitted has the lines of a text broken between words where they go to a terminal
// that is narrower.
func (s Stream) fitted(text string) string {
	if !s.Terminal {
		return text
	}
	columns, _ := s.size()
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		b.WriteString(hanging(line, columns))
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// columns are those of a terminal, 0 for any number.
func (s Stream) columns() int {
	if !s.Terminal {
		return 0
	}
	columns, _ := s.size()
	return columns
}
