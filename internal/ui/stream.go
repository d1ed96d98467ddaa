package ui

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// Stream is standard output or standard error, and what can be done with it.
type Stream struct {
	io.Writer
	// Terminal: a view can be drawn on it, and redrawn.
	Terminal bool
	// Color: colours show on it, and are wanted.
	Color bool
	// Size tells columns and rows of the terminal; nil, or zeros, where they are
	// unknown.
	Size func() (columns, rows int)
}

// Color says when there are colours.
type Color string

// When there are colours. Any other is ColorAuto.
const (
	ColorAuto   Color = "auto" // on a terminal, unless NO_COLOR is set
	ColorAlways Color = "always"
	ColorNever  Color = "never"
)

// NewStream finds out what w can do. Only an *os.File that is a terminal can do
// anything, and only when TERM names one that understands cursor movements, or, on
// Windows, the console does. NO_COLOR switches colours off that are not wanted in any
// case, and CI the redrawing, for a log keeps all that was ever drawn.
func NewStream(w io.Writer, getenv func(string) string, color Color) Stream {
	s := Stream{Writer: w, Color: color == ColorAlways}
	file, ok := w.(*os.File)
	if !ok {
		return s
	}
	fd := int(file.Fd())
	if !draws(getenv("TERM"), fd) {
		return s
	}
	s.Terminal = !InCI(getenv)
	s.Color = color == ColorAlways || color != ColorNever && getenv("NO_COLOR") == ""
	s.Size = func() (int, int) {
		columns, rows, err := term.GetSize(fd)
		if err != nil {
			return 0, 0
		}
		return columns, rows
	}
	return s
}

// InCI tells whether this is a job of a CI, by the variable that all of them set.
func InCI(getenv func(string) string) bool { return isSet(getenv("CI")) }

// isSet tells whether an environment variable says yes: it has a value, and
// none that means no.
func isSet(value string) bool {
	if yes, err := strconv.ParseBool(value); err == nil {
		return yes
	}
	return value != ""
}

// size is the terminal's, or the usual one where that is not known.
func (s Stream) size() (columns, rows int) {
	if s.Size != nil {
		columns, rows = s.Size()
	}
	if columns <= 0 {
		columns = 80
	}
	if rows <= 0 {
		rows = 24
	}
	return columns, rows
}
