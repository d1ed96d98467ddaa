package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// columnGap is what kubectl leaves between columns.
const columnGap = 3

// align pads cells by the width that they take on a terminal, and leaves nothing
// at the end of a line. Cells may be coloured. A row may be shorter than others.
func align(indent string, rows [][]string) string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = cell + strings.Repeat(" ", widths[i]+columnGap-ansi.StringWidth(cell))
		}
		b.WriteString(strings.TrimRight(indent+strings.Join(cells, ""), " ") + "\n")
	}
	return b.String()
}
