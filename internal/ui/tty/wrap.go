package tty

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// hyphen replaces hyphens while words are wrapped, because Wordwrap would break names and
// flags after them. It is a private use character, which no safe text contains.
const hyphen = "\ue000"

// wrapped breaks a text between words into lines with that many columns. A longer word gets
// a line of its own, which the terminal breaks.
func wrapped(text string, columns int) []string {
	text = ansi.Wordwrap(strings.ReplaceAll(text, "-", hyphen), columns, "")
	return strings.Split(strings.ReplaceAll(text, hyphen, "-"), "\n")
}

// hanging breaks a line between words for a terminal with that many columns. It indents all
// parts after the first.
func hanging(line string, columns int) string {
	const indent = "    "
	if lipgloss.Width(line) <= columns || columns < LeastRoom {
		return line
	}
	first := wrapped(line, columns)[0]
	rest := strings.TrimPrefix(line[len(first):], " ")
	if rest == "" {
		return first
	}
	return first + "\n" + indent + strings.Join(wrapped(rest, columns-len(indent)), "\n"+indent)
}

// Cut cuts a line so that the last column of a terminal stays free, because some terminals
// wrap a line that touches their edge.
func Cut(line string, columns int) string { return ansi.Truncate(line, max(columns-1, 1), "...") }

// Fitted breaks the lines of a text between words if they are wider than the terminal.
func (s Stream) Fitted(text string) string {
	if !s.Terminal {
		return text
	}
	columns, _ := s.Extent()
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

// Columns returns the columns of a terminal, or 0 without a limit.
func (s Stream) Columns() int {
	if !s.Terminal {
		return 0
	}
	columns, _ := s.Extent()
	return columns
}
