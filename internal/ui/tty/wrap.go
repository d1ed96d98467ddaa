package tty

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

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

// Cut is a line that leaves the last column of a terminal free: some wrap what touches
// their edge.
func Cut(line string, columns int) string { return ansi.Truncate(line, max(columns-1, 1), "...") }

// Fitted has the lines of a text broken between words where they go to a terminal
// that is narrower.
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

// Columns are those of a terminal, 0 for any number.
func (s Stream) Columns() int {
	if !s.Terminal {
		return 0
	}
	columns, _ := s.Extent()
	return columns
}
