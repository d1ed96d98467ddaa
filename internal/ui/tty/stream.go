package tty

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"golang.org/x/term"
)

// Stream is an Output for people, with its abilities. The zero Stream shows nothing.
type Stream struct {
	out         Output
	Interactive bool   // a terminal, of whatever kind
	mark        string // marks our own colours
	// Terminal is set if a view can be drawn on it, and redrawn.
	Terminal bool
	// Color is set if it shows colours, and the user wants them.
	Color bool
	// Size returns the columns and rows of the terminal. It is nil, or returns zeros, if
	// they are unknown.
	Size func() (columns, rows int)
}

// Color is a value of --color.
type Color string

// The values of --color. Any other is ColorAuto.
const (
	ColorAuto   Color = "auto" // on a terminal, unless NO_COLOR is set
	ColorAlways Color = "always"
	ColorNever  Color = "never"
)

// NewStream finds the abilities of an Output. Only an *os.File on a terminal has any. TERM,
// or on Windows the console, must also support cursor movements. NO_COLOR switches off
// colours, unless color is ColorAlways. CI switches off redrawing, because a log would keep
// every frame.
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

// of returns the writer for a format.
func (s Stream) of(f Format) io.Writer {
	if f == "" || slices.Contains([]Format{Table, Wide, Name}, f) {
		return s
	}
	return s.Data()
}

// WriteText writes a text in a format. If err isn't nil, it writes nothing and returns err
// with the name in what.
func (s Stream) WriteText(what string, f Format, text string, err error) error {
	if err == nil {
		_, err = io.WriteString(s.of(f), text)
	}
	if err != nil {
		return fmt.Errorf("write the %s: %w", what, err)
	}
	return nil
}

// InCI reports whether this is a CI job, by the variable that all CI systems set.
func InCI(getenv func(string) string) bool { return isSet(getenv("CI")) }

// isSet reports whether an environment variable means yes: it isn't empty, and doesn't mean
// no.
func isSet(value string) bool {
	if yes, err := strconv.ParseBool(value); err == nil {
		return yes
	}
	return value != ""
}

// Extent returns the size of the terminal, or the usual one if unknown.
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
