package tty

import (
	"crypto/rand"
	"encoding/binary"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// Output is standard output or standard error. Nothing can be written to it itself: what
// is for people goes to a Stream of it, what is for programs to that Stream's Data. The
// zero Output takes everything and shows nothing.
type Output struct{ to io.Writer }

// To makes an Output of a file or a buffer.
func To(w io.Writer) Output { return Output{w} }

// Handed is what another program is started with that writes there by itself. lynqctl
// writes nothing to it.
func (o Output) Handed() io.Writer { return o.writer() }

func (o Output) writer() io.Writer {
	if o.to == nil {
		return io.Discard
	}
	return o.to
}

// file is the terminal that this is, of whatever kind, and nil where it is none.
func (o Output) file() *os.File {
	if file, ok := o.to.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return file
	}
	return nil
}

// Write writes text for people: all of it as Text has it, but for the colours of paint.
// The text of a row, a server or another tool is in it as that wrote it, perhaps.
func (s Stream) Write(p []byte) (int, error) {
	if _, err := io.WriteString(s.out.writer(), s.shown(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// shown is a text as it is written. A colour has the mark of this stream, which no one
// else can know; without the mark it is a colour.
func (s Stream) shown(text string) string {
	if s.mark == "" {
		return Text(text)
	}
	parts := strings.Split(text, s.mark)
	for i, part := range parts {
		at := strings.LastIndexByte(part, ansi.ESC)
		if i == len(parts)-1 || at < 0 {
			parts[i] = Text(part)
			continue
		}
		parts[i] = Text(part[:at]) + part[at:] + "m"
	}
	return strings.Join(parts, "")
}

// newMark makes the end of a colour: a parameter that no terminal knows. Colours are
// marked because text is cut, wrapped and put together with them in it: by then nothing
// but a mark tells what was ours.
func newMark() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return ";" + strconv.FormatUint(binary.LittleEndian.Uint64(random[:]), 10) + "m"
}

// Rewind goes to the beginning of a terminal's line, over the ^C that it shows.
func (s Stream) Rewind() {
	if s.Terminal {
		_, _ = io.WriteString(s.out.writer(), "\r") // what follows tells whether it can be written
	}
}

// Redraw writes text over so many rows of a terminal, in one write so that no half of it
// shows.
func (s Stream) Redraw(rows int, text string) {
	over := ""
	if rows > 0 {
		over = "\r" + ansi.CursorUp(rows) + ansi.EraseScreenBelow
	}
	_, _ = io.WriteString(s.out.writer(), over+s.shown(text)) // a run goes on when its output is closed
}

// Data is where manifests, JSON and the like go, which programs read: they are written
// as they are, but on a terminal as Text has them.
func (s Stream) Data() io.Writer {
	if s.Interactive {
		return &dataShown{out: s.out.writer()}
	}
	return s.out.writer()
}

// Field is one value among data that have no quoting of their own.
func (s Stream) Field(text string) string {
	if s.Interactive {
		return Safe(text)
	}
	return text
}

// dataShown is data on a terminal. A character may come in two writes.
type dataShown struct {
	out  io.Writer
	rest []byte // the beginning of a character
}

func (d *dataShown) Write(p []byte) (int, error) {
	text := slices.Concat(d.rest, p)
	end := len(text)
	for at := max(end-utf8.UTFMax+1, 0); at < end; at++ {
		if utf8.RuneStart(text[at]) && !utf8.FullRune(text[at:]) {
			end = at
		}
	}
	d.rest = text[end:]
	if _, err := io.WriteString(d.out, Text(string(text[:end]))); err != nil {
		return 0, err
	}
	return len(p), nil
}
