package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// columnGap is what kubectl leaves between columns.
const columnGap = 3

// align pads cells by the width that they take on a terminal, and leaves nothing
// at the end of a line. Cells may be coloured. A row may be shorter than others.
func align(indent string, rows [][]string) string { return alignBy(indent, columnGap, rows) }

// alignBy is align with another gap between columns.
func alignBy(indent string, gap int, rows [][]string) string {
	widths := widthsOf(rows)
	var b strings.Builder
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = cell + strings.Repeat(" ", widths[i]+gap-ansi.StringWidth(cell))
		}
		b.WriteString(strings.TrimRight(indent+strings.Join(cells, ""), " ") + "\n")
	}
	return b.String()
}

// widthsOf are those of the columns.
func widthsOf(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	return widths
}
