package tty

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"golang.org/x/term"
)

// Stream is an Output as people see it, and what can be done with it. The zero Stream
// shows nothing.
type Stream struct {
	out         Output
	Interactive bool   // a terminal, of whatever kind
	mark        string // of the colours that are written to it
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

// NewStream finds out what an Output can do. Only an *os.File that is a terminal can do
// anything, and only when TERM names one that understands cursor movements, or, on
// Windows, the console does. NO_COLOR switches colours off that are not wanted in any
// case, and CI the redrawing, for a log keeps all that was ever drawn.
func NewStream(out Output, getenv func(string) string, color Color) Stream {
	s := Stream{out: out, mark: newMark(), Color: color == ColorAlways}
	file := out.file()
	if file == nil {
		return s
	}
	s.Interactive = true
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

// of is where a format goes.
func (s Stream) of(f Format) io.Writer {
	if f == "" || slices.Contains([]Format{Table, Wide, Name}, f) {
		return s
	}
	return s.Data()
}

// WriteText writes what was made for a format, unless it could not be made.
func (s Stream) WriteText(what string, f Format, text string, err error) error {
	if err == nil {
		_, err = io.WriteString(s.of(f), text)
	}
	if err != nil {
		return fmt.Errorf("write the %s: %w", what, err)
	}
	return nil
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

// Extent is the terminal's, or the usual one where that is not known.
func (s Stream) Extent() (columns, rows int) {
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
