package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// textStart returns the offset of the file's text. It refuses a file whose lines end with CR
// alone, because a reader of CSV takes it for one line.
func (s *csvSource) textStart() (int64, error) {
	start, err := s.file.textStart()
	if err != nil {
		return 0, err
	}
	head := make([]byte, 64<<10)
	n, err := s.file.ReadAt(head, start)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, s.file.readError(1, err)
	}
	if endsWithCR(head[:n]) {
		return 0, &Error{Place: s.file.at(1), What: "the line ends with CR and without LF", Fix: fixLineEnd}
	}
	return start, nil
}

// fixLineEnd is the fix for lines that end with CR alone.
const fixLineEnd = `end each line with LF or CRLF, for example: tr '\r' '\n' < OLD.csv > NEW.csv`

// endsWithCR reports whether the first line of a text ends with CR alone. A CR in quotes, or
// at the end of the text, ends no line.
func endsWithCR(text []byte) bool {
	quoted := false
	for i, c := range text {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '\n':
			return false
		case c == '\r':
			return i+1 < len(text) && text[i+1] != '\n'
		}
	}
	return false
}

// separatorName names a separator in messages.
func separatorName(separator byte) string {
	return map[byte]string{',': "commas", ';': "semicolons", '\t': "tabs", '|': "vertical bars"}[separator]
}

// likelySeparator returns the character that separates the names of a first line, whose
// reader found only one of them. It returns "" if none does.
func likelySeparator(names []string) string {
	if len(names) != 1 {
		return ""
	}
	for _, separator := range endpoint.Separators() {
		if strings.Contains(names[0], separator) {
			return separator
		}
	}
	return ""
}

// csvText reads the text of a CSV file, and refuses NUL bytes. A damaged file has them.
type csvText struct {
	fileReader
	file *dataFile
	err  error
}

// Read implements io.Reader.
func (r *csvText) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	offset := r.offset
	n, err := r.fileReader.Read(p)
	if nul := bytes.IndexByte(p[:n], 0); nul >= 0 {
		r.err = &Error{
			Place: r.file.atOffset(offset + int64(nul)), What: "the line has a NUL byte, so the file isn't text",
			Fix: "save it as UTF-8 text; if it is damaged, write it again",
		}
		return nul, r.err
	}
	return n, err
}

// ragged returns the error for a row with another number of values than the header.
func (s *csvSource) ragged(line, want int, row [][]byte) error {
	more, fix := "", "put values that hold "+separatorName(s.comma)+" or line breaks in double quotes"
	if slices.ContainsFunc(row, endsWithCR) {
		more, fix = " and a CR without LF", fixLineEnd
	}
	return &Error{Place: s.file.at(line), What: fmt.Sprintf("the row has %d values%s, the header %d columns", len(row), more, want), Fix: fix}
}
