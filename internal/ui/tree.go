package ui

import "strings"

// Branches draws a tree: given how deep each line is below those above it, the
// beginnings of the lines. Lines of depth 0 are roots, and have none.
func Branches(depths []int) []string {
	lines := make([]string, len(depths))
	for i, depth := range depths {
		var b strings.Builder
		for level := 1; level <= depth; level++ {
			more := goesOn(depths[i+1:], level)
			switch {
			case level == depth && more:
				b.WriteString("├─ ")
			case level == depth:
				b.WriteString("└─ ")
			case more:
				b.WriteString("│  ")
			default:
				b.WriteString("   ")
			}
		}
		lines[i] = b.String()
	}
	return lines
}

// goesOn tells whether a line of that depth follows below the same parent.
func goesOn(rest []int, level int) bool {
	for _, depth := range rest {
		if depth <= level {
			return depth == level
		}
	}
	return false
}
