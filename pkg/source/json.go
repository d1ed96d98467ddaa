package source

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// openJSON opens a file of JSON objects, or of YAML. The file's name says which
// it is, else its first character does.
func openJSON(ctx context.Context, c lynq.Connection, stdin io.Reader) (Source, error) {
	file, err := openData(ctx, c, stdin)
	if err != nil {
		return nil, err
	}
	start, first, err := firstByte(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	switch strings.ToLower(filepath.Ext(file.name)) {
	case ".yaml", ".yml":
		return &yamlSource{file: file, start: start}, nil
	case ".json", ".ndjson", ".jsonl":
	default:
		if first != '[' && first != '{' {
			return &yamlSource{file: file, start: start}, nil
		}
	}
	return &jsonSource{file: file, start: start, array: first == '['}, nil
}

// firstByte is the offset where the text starts, and its first byte that is not
// white space.
func firstByte(file *dataFile) (int64, byte, error) {
	start, err := file.textStart()
	if err != nil {
		return 0, 0, err
	}
	r := bufio.NewReader(&fileReader{file: file, offset: start})
	for {
		c, err := r.ReadByte()
		switch {
		case err == io.EOF:
			return 0, 0, &Error{Place: file.name, What: "the file is empty", Fix: "a list without rows is []"}
		case err != nil:
			return 0, 0, file.readError(0, err)
		case !isJSONSpace(c):
			return start, c, nil
		}
	}
}

// jsonSource reads a JSON array of objects, or objects one after the other, as
// NDJSON has them.
type jsonSource struct {
	file  *dataFile
	start int64
	array bool
}

// Place implements Source.
func (s *jsonSource) Place(line int) string { return s.file.at(line) }

// Close implements Source.
func (s *jsonSource) Close() error { return s.file.Close() }

// Records implements Source. It reads the file twice: for the order, and for
// the values.
func (s *jsonSource) Records(ctx context.Context, q Query) iter.Seq2[lynq.Row, error] {
	return stream(func(emit func(lynq.Row) bool) error {
		b, err := newBuilder(q, fixFileText)
		if err != nil {
			return err
		}
		before, err := s.file.version()
		if err != nil {
			return err
		}
		records, err := s.index(ctx, newJSONRow(q), b.uid)
		if err != nil {
			return err
		}
		more, err := s.emit(ctx, b, newJSONRow(q), records, emit)
		if err != nil || !more {
			return err
		}
		return s.file.unchanged(before)
	})
}

// index is the first reading: where each record is, and which columns there
// are.
func (s *jsonSource) index(ctx context.Context, row *jsonRow, uid int) (*spans, error) {
	limited := &rowLimit{Reader: &fileReader{file: s.file, offset: s.start}}
	lines := &lineCounter{r: limited, line: 1}
	d := json.NewDecoder(lines)
	if s.array {
		if _, err := d.Token(); err != nil {
			return nil, s.syntax(d, lines, err)
		}
	}
	records := &spans{}
	var raw json.RawMessage
	var text []byte
	for !s.array || d.More() {
		if err := stopped(ctx, s.file.name, len(records.list)); err != nil {
			return nil, err
		}
		limited.row = d.InputOffset()
		err := d.Decode(&raw)
		if errors.Is(err, io.EOF) && !s.array {
			break
		}
		if err != nil {
			return nil, s.syntax(d, lines, err)
		}
		offset := d.InputOffset() - int64(len(raw))
		line := lines.at(offset)
		if err := row.parse(raw); err != nil {
			return nil, s.fault(raw, line, err)
		}
		if text, _, err = appendText(text[:0], row.values[uid]); err != nil {
			return nil, s.fault(raw, line, err)
		}
		records.add(string(text), s.start+offset, len(raw), line)
	}
	if err := s.end(d, lines); err != nil {
		return nil, err
	}
	if len(records.list) > 0 {
		if _, err := checkColumns(s.file.name, Query{Columns: row.columns}, row.names, sameName); err != nil {
			return nil, err
		}
	}
	records.sort()
	return records, nil
}

// end reads an array's closing bracket, after which there must be nothing.
func (s *jsonSource) end(d *json.Decoder, lines *lineCounter) error {
	if !s.array {
		return nil
	}
	if _, err := d.Token(); err != nil {
		return s.syntax(d, lines, err)
	}
	var extra json.RawMessage
	err := d.Decode(&extra)
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return s.syntax(d, lines, err)
	}
	line := lines.at(d.InputOffset() - int64(len(extra)))
	return &Error{Place: s.file.at(line), What: "there is more after the array's end", Fix: "put all rows into one array, or write them without any"}
}

// syntax is a decoder's error with its line. The decoder tells offsets only
// roughly, so the broken value is parsed again alone.
func (s *jsonSource) syntax(d *json.Decoder, lines *lineCounter, err error) error {
	start := s.valueStart(d.InputOffset())
	line := lines.at(start)
	wrong, isSyntax := errors.AsType[*json.SyntaxError](err)
	switch {
	case errors.Is(err, errLongRow):
		return longRow(s.file.at(line), fixLongText)
	case isSyntax:
		again := json.NewDecoder(&fileReader{file: s.file, offset: s.start + start})
		var raw json.RawMessage
		if w, ok := errors.AsType[*json.SyntaxError](again.Decode(&raw)); ok {
			line = lines.at(start + w.Offset - 1)
		}
		return &Error{Place: s.file.at(line), What: "this is not JSON", Fix: "each row is an object like {\"id\": \"a\"}", Err: wrong}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{Place: s.file.at(line), What: "the JSON that begins here does not end", Fix: "the file looks cut off; write it again"}
	}
	return s.file.readError(line, err)
}

// valueStart is where, from offset on, the next value starts.
func (s *jsonSource) valueStart(offset int64) int64 {
	var next [512]byte
	n, err := s.file.ReadAt(next[:], s.start+offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return offset // it is for a message that is due anyway
	}
	for i, c := range next[:n] {
		if c != ',' && !isJSONSpace(c) {
			return offset + int64(i)
		}
	}
	return offset
}

// fault gives a record's fault its line.
func (s *jsonSource) fault(raw []byte, line int, err error) error {
	if f, ok := errors.AsType[*jsonError](err); ok {
		line += bytes.Count(raw[:f.at], []byte{'\n'})
		return &Error{Place: s.file.at(line), What: f.what, Fix: f.fix}
	}
	return &Error{Place: s.file.at(line), What: "the row cannot be read", Err: err}
}

// emit is the second reading. It tells whether all records were wanted.
func (s *jsonSource) emit(ctx context.Context, b *builder, row *jsonRow, records *spans, emit func(lynq.Row) bool) (bool, error) {
	r := newSpanReader(s.file, records)
	for i, sp := range records.list {
		if err := stopped(ctx, s.file.name, i); err != nil {
			return false, err
		}
		raw, err := r.read(sp)
		if err != nil {
			return false, s.file.gone(sp.line, err)
		}
		// The bytes were good once; they may have changed since.
		if !json.Valid(raw) || row.parse(raw) != nil {
			return false, s.file.changed()
		}
		for _, value := range row.values {
			var null bool
			if b.text, null, err = appendText(b.text, value); err != nil {
				return false, s.fault(raw, sp.line, err)
			}
			b.end(null)
		}
		rec, err := b.record(sp.line, s.Place)
		if err != nil {
			return false, err
		}
		if rec.Values[b.uid] != sp.uid {
			return false, s.file.changed()
		}
		if !emit(rec) {
			return false, nil
		}
	}
	return true, nil
}

// lineCounter tells in which line an offset is, for offsets that only grow.
type lineCounter struct {
	r      io.Reader
	read   int64
	breaks []int64 // offsets of line breaks read and not yet passed
	line   int
}

// Read implements io.Reader.
func (l *lineCounter) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for i := 0; i < n; i++ {
		next := bytes.IndexByte(p[i:n], '\n')
		if next < 0 {
			break
		}
		i += next
		l.breaks = append(l.breaks, l.read+int64(i))
	}
	l.read += int64(n)
	return n, err
}

// at is the line of offset, which is not before the last one asked for.
func (l *lineCounter) at(offset int64) int {
	passed := 0
	for passed < len(l.breaks) && l.breaks[passed] < offset {
		passed++
	}
	l.line += passed
	l.breaks = l.breaks[:copy(l.breaks, l.breaks[passed:])]
	return l.line
}

// jsonError is what is wrong in a record whose syntax is right.
type jsonError struct {
	at        int // offset in the record
	what, fix string
}

// Error implements error.
func (f *jsonError) Error() string { return fmt.Sprintf("%s at byte %d", f.what, f.at) }
