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

	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

// Output is standard output or standard error. Nobody can write to it directly. Callers
// write text for people to a Stream of it, and text for programs to that Stream's Data. The
// zero Output discards everything.
type Output struct {
	to      io.Writer
	secrets *redact.Filter
	async   *asyncWriter // carries the writes, nil for none
}

// To returns an Output for a file or a buffer.
func To(w io.Writer) Output { return Output{to: w} }

// Hiding returns the Output with a filter for everything that is written to it, except
// manifests.
func (o Output) Hiding(f *redact.Filter) Output { return Output{o.to, f, o.async} }

// Handed returns the writer for another program that writes there itself. lynqctl writes
// nothing to it.
func (o Output) Handed() io.Writer {
	o.async = nil
	return o.writer()
}

func (o Output) writer() io.Writer {
	switch {
	case o.to == nil:
		return io.Discard
	case o.async != nil:
		return o.async
	}
	return o.to
}

// file returns the file if it is a terminal of whatever kind, otherwise nil.
func (o Output) file() *os.File {
	if file, ok := o.to.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return file
	}
	return nil
}

// Write writes text for people. It escapes everything as Text does, except the colours of
// Paint. The text may contain what a row, a server or another tool wrote.
func (s Stream) Write(p []byte) (int, error) {
	if _, err := io.WriteString(s.out.writer(), s.shown(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// shown returns a text as Write writes it. A colour has the mark of this stream, which
// nobody else can know. shown removes the mark.
func (s Stream) shown(text string) string {
	text = s.out.secrets.Hide(text)
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

// newMark returns a random end for colours: a parameter that no terminal knows. Text is
// cut, wrapped and joined after it got colours. Only a mark then shows which colours are
// ours.
func newMark() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return ";" + strconv.FormatUint(binary.LittleEndian.Uint64(random[:]), 10) + "m"
}

// Rewind moves to the start of a terminal's line, over the ^C that it shows.
func (s Stream) Rewind() {
	if s.Terminal {
		_, _ = io.WriteString(s.out.writer(), "\r") // the next write shows whether the terminal accepts text
	}
}

// Redraw replaces that many rows of a terminal by text. It uses one write, so that nobody
// sees half of it.
func (s Stream) Redraw(rows int, text string) {
	over := ""
	if rows > 0 {
		over = "\r" + ansi.CursorUp(rows) + ansi.EraseScreenBelow
	}
	_, _ = io.WriteString(s.out.writer(), over+s.shown(text)) // a run continues when its output closes
}

// Data returns the writer for JSON and other data that programs read. Each write has whole
// lines. On a terminal, it escapes them like Text.
func (s Stream) Data() io.Writer { return hidden{s.Manifests(), s.out.secrets} }

// hidden hides secret values in data.
type hidden struct {
	to      io.Writer
	secrets *redact.Filter
}

func (h hidden) Write(p []byte) (int, error) {
	if h.secrets.Empty() {
		return h.to.Write(p)
	}
	if _, err := io.WriteString(h.to, h.secrets.HideData(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Manifests returns the writer for rendered manifests, which have the values of rows. It
// writes them unchanged, but escapes them on a terminal like Text.
func (s Stream) Manifests() io.Writer {
	if s.Interactive {
		return &dataShown{out: s.out.writer()}
	}
	return s.out.writer()
}

// Field returns one value for data without quoting of their own.
func (s Stream) Field(text string) string {
	if s.Interactive {
		return Safe(text)
	}
	return text
}

// dataShown writes data to a terminal. A character may come in two writes.
type dataShown struct {
	out  io.Writer
	rest []byte // the start of a character
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
