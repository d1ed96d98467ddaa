package ui

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Limits of the live view: the number of named objects that a run waits for, and the width
// of the bar. A bar shows from a third of that width on.
const (
	waitsShown = 5
	barWidth   = 20
)

// view draws a model in lines that fit: each is narrower than the terminal, and all of them
// leave a row free.
func view(m *model, now time.Time, columns, rows int, p tty.Paint) []string {
	if m.over || m.start.IsZero() {
		return nil
	}
	drawn := []string{progressLine(m, now, columns, p)}
	if longest := m.waits.longest(waitsShown); len(longest) > 0 {
		drawn = append(drawn, "waiting for "+phrase.Count(m.waits.n, "object")+longestOf(m.waits.n))
		for _, w := range longest {
			drawn = append(drawn, "  "+tty.Safe(w.node.Name)+"  "+w.line(now))
		}
	}
	drawn = drawn[:min(len(drawn), max(rows-1, 1))]
	for i, line := range drawn {
		drawn[i] = tty.Cut(line, columns)
	}
	return drawn
}

func longestOf(n int) string {
	if n <= waitsShown {
		return ":"
	}
	return ", the longest:"
}

// progressLine shows the progress of a run.
func progressLine(m *model, now time.Time, columns int, p tty.Paint) string {
	parts := []string{p.Bold(fmt.Sprintf("%d/%d nodes", m.done, m.total))}
	if m.failed > 0 {
		parts = append(parts, p.Failed(fmt.Sprintf("%d failed", m.failed)))
	}
	parts = append(parts,
		phrase.Count(m.changed, "object")+" changed",
		p.Good(fmt.Sprintf("%d ready", m.ready)),
		fmt.Sprintf("%.1f/s", m.rate.perSecond(m.start, now)),
		p.Faint(age(now.Sub(m.start))))
	if left, known := m.left(now); known {
		parts = append(parts, p.Faint("~"+age(left+time.Second)+" left"))
	}
	return barred(strings.Join(parts, " · "), m.done, m.total, columns, p)
}

// barred puts a bar before a line, if it has room for one.
func barred(line string, part, total, columns int, p tty.Paint) string {
	width := min(columns-1-lipgloss.Width(line)-len("[]  "), barWidth)
	if width < barWidth/3 {
		return line
	}
	return bar(part, total, width, p) + "  " + line
}

// bar shows a part of a total. It is full only when everything is done.
func bar(part, total, width int, p tty.Paint) string {
	filled := 0
	if total > 0 {
		filled = min(part, total) * width / total
	}
	return "[" + p.Good(strings.Repeat("=", filled)) + strings.Repeat("-", width-filled) + "]"
}
