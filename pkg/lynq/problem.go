package lynq

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Pos is a place in an input file. Line counts from 1, and 0 means the whole file.
type Pos struct {
	File string
	Line int
}

// String returns FILE:LINE, or FILE without a line.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Problem says what is wrong with an input, where, and what to do. It is for the person who
// wrote the input.
type Problem struct {
	Pos Pos
	// Subject is the form, resource and field, or "" if Pos or What says it.
	Subject string
	// Row is the uid of the row, or "".
	Row string
	// Column is the row's column, or "".
	Column string
	What   string
	Fix    string // what to do; may be empty
	// Verb is set if What begins with a verb, with the row as its subject.
	Verb bool
	// AtRow is set if Pos is the place of the row, instead of what its form says.
	AtRow bool
}

// Message says where and what, without the place in a file.
func (p Problem) Message() string {
	if p.Row == "" {
		return p.message("")
	}
	return p.message("row " + phrase.Quote(p.Row))
}

// message is the message for a row, or for several.
func (p Problem) message(rows string) string {
	s := p.What
	switch {
	case p.Column != "" && rows != "":
		s = fmt.Sprintf("%s, column %q: %s", rows, p.Column, s)
	case p.Column != "":
		s = fmt.Sprintf("column %q: %s", p.Column, s)
	case p.Verb:
		s = rows + " " + s
	case rows != "":
		s = rows + ": " + s
	}
	if p.Subject != "" {
		s = p.Subject + ": " + s
	}
	return s
}

// String is "FILE:LINE: message (fix)".
func (p Problem) String() string { return p.line(p.Message()) }

func (p Problem) line(message string) string {
	s := p.Pos.String() + ": " + message
	if p.Fix != "" {
		s += " (" + p.Fix + ")"
	}
	return phrase.OneLine(s) // a row may have said it
}

// Problems is an error that lists all problems of inputs, in the order of files and lines. A
// user can fix them all at once.
type Problems []Problem //nolint:errname // it is a list first, an error where it is returned as one

// Add appends a problem. The fix may be "".
func (ps *Problems) Add(pos Pos, fix, format string, args ...any) {
	*ps = append(*ps, Problem{Pos: pos, What: fmt.Sprintf(format, args...), Fix: fix})
}

// Err returns the problems sorted by place, each once, or nil for none.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps.Sorted()
}

// Sorted returns a sorted copy without repetitions.
func (ps Problems) Sorted() Problems {
	sorted := slices.Clone(ps)
	slices.SortStableFunc(sorted, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line))
	})
	return slices.Compact(sorted)
}

// Error returns a line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}
