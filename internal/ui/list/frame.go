package list

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// Frame returns a list in lines that fit: each is narrower than the terminal, and all of
// them leave a row free.
func (l *List) Frame(wide bool, out tty.Stream, columns, rows int) []string {
	out.Size = func() (int, int) { return columns - 1, rows }
	room := max(rows-1, 1)
	var footer []string
	if len(l.Footer) > 0 {
		footer = append(footer, "")
	}
	for _, line := range l.Footer {
		footer = append(footer, tty.Safe(line))
	}
	footer = footer[:min(len(footer), room/2)]
	lines := slices.Concat(l.within(room-len(footer), wide, out), footer)
	for i, line := range lines {
		lines[i] = tty.Cut(line, columns)
	}
	return lines
}

// DetailsFrame returns details in lines that fit, and says how many lines it leaves out.
func DetailsFrame(all []*Details, wide bool, out tty.Stream, columns, rows int) []string {
	out.Size = func() (int, int) { return columns - 1, rows }
	var texts []string
	for _, d := range all {
		texts = append(texts, strings.TrimSuffix(d.lines(wide, out), "\n"))
	}
	lines, room := strings.Split(strings.Join(texts, "\n\n"), "\n"), max(rows-1, 1)
	if len(lines) > room {
		more := fmt.Sprintf("... and %d more lines", len(lines)-room+1)
		lines = append(lines[:room-1], more)
	}
	for i, line := range lines {
		lines[i] = tty.Cut(line, columns)
	}
	return lines
}

// within returns the table in at most room lines.
func (l *List) within(room int, wide bool, out tty.Stream) []string {
	if len(l.Items) == 0 {
		return []string{tty.Safe(l.Empty)}
	}
	shown, more := *l, ""
	if len(l.Items)+1 > room {
		shown.Items = worst(l.Items, max(room-2, 0))
		more = fmt.Sprintf("... and %d more", len(l.Items)-len(shown.Items))
	}
	lines := strings.Split(strings.TrimSuffix(shown.Table(wide, out), "\n"), "\n")
	if more != "" {
		lines = append(lines, more)
	}
	return lines[:min(len(lines), room)]
}

// worst returns n of the items in their order. It drops good items first.
func worst(items []Item, n int) []Item {
	good := n
	for i := range items {
		if items[i].Tone != tty.Good {
			good--
		}
	}
	var kept []Item
	for _, item := range items {
		switch {
		case len(kept) == n:
			return kept
		case item.Tone != tty.Good:
			kept = append(kept, item)
		case good > 0:
			kept = append(kept, item)
			good--
		}
	}
	return kept
}
