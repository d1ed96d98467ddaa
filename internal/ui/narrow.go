package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// tooWide tells whether a table is wider than a terminal of so many columns, 0 for any
// number, though its last cells may go on in further lines where they are wrapped.
func tooWide(indent string, gap int, widths []int, lastWrapped bool, columns int) bool {
	if lastWrapped && len(widths) > 0 {
		widths = widths[:len(widths)-1]
	}
	return columns > 0 && len(indent)+widthBy(gap, widths) > columns
}

// records are a table for a terminal that is too narrow for it: each row by itself, a
// line for each of its cells behind the name of its column. No word is broken, and
// nothing is left out.
func records(rows [][]string, columns int) string {
	var b strings.Builder
	for n, row := range rows[1:] {
		var cells [][]string
		for i, cell := range row {
			if cell != "" {
				cells = append(cells, []string{rows[0][i], cell})
			}
		}
		if n > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(flow("", cells, columns))
	}
	return b.String()
}

// folded are rows for a terminal that is too narrow for them: cells that do not fit
// behind those before them go on in a further line, indented.
func folded(indent string, rows [][]string, columns int) string {
	under := indent + beneathIndent
	var b strings.Builder
	for _, row := range rows {
		line := indent
		for _, cell := range row {
			switch {
			case cell == "":
			case strings.TrimSpace(line) == "":
				line += cell
			case ansi.StringWidth(line)+narrowGap+ansi.StringWidth(cell) <= columns:
				line += strings.Repeat(" ", narrowGap) + cell
			default:
				b.WriteString(line + "\n")
				parts := wrapped(cell, columns-len(under))
				for _, part := range parts[:len(parts)-1] {
					b.WriteString(under + part + "\n")
				}
				line = under + parts[len(parts)-1]
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}
