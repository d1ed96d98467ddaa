package source

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/source/fault"
)

// openJSON opens a file of JSON objects, or of YAML. The extension decides, or else the
// first character.
func openJSON(ctx context.Context, c endpoint.Connection, from given) (Source, error) {
	file, err := openData(ctx, c, from.stdin)
	if err != nil {
		return nil, err
	}
	start, first, err := firstByte(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	switch strings.ToLower(filepath.Ext(file.name)) {
	case ".yaml", ".yml":
		return &yamlSource{fileSource: fileSource{file}, start: start, items: c.File.Items}, nil
	case ".json", ".ndjson", ".jsonl":
	default:
		if first != '[' && first != '{' {
			return &yamlSource{fileSource: fileSource{file}, start: start, items: c.File.Items}, nil
		}
	}
	return &jsonSource{fileSource: fileSource{file}, start: start, array: first == '[' || c.File.Items != "", items: c.File.Items}, nil
}

// firstByte returns the offset where the text starts, and the first byte that isn't white
// space.
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

// jsonSource reads a JSON array of objects, or a sequence of objects such as NDJSON.
type jsonSource struct {
	fileSource
	start int64
	array bool
	items string // the field that has the array; "" if nothing is around it
}

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
		rows, records, err := s.index(ctx, newJSONRow(q), b.uid)
		if err != nil {
			return err
		}
		var more bool
		if records == nil {
			more, err = s.emitInOrder(ctx, b, newJSONRow(q), rows, emit)
		} else {
			more, err = s.emit(ctx, b, newJSONRow(q), records, emit)
		}
		if err == nil && !more {
			return nil
		}
		if changed := s.file.unchanged(before); changed != nil {
			return changed // the change explains why the second reading failed
		}
		return err
	})
}

// errOutOfOrder ends a first reading at a record that belongs before the previous one.
// errUnwanted ends a second reading if the caller takes no more records.
var (
	errOutOfOrder = errors.New("records are not in the order of their uids")
	errUnwanted   = errors.New("no more records are wanted")
)

// index is the first reading. It finds the columns and counts the rows. It stores the
// places of records only if two of them are out of order, and then begins again. Otherwise
// the second reading goes through the file in order.
func (s *jsonSource) index(ctx context.Context, row *jsonRow, uid int) (rows int, records *spans, err error) {
	var last []byte
	err = s.each(ctx, row, func(int64, int64, int) error {
		id := row.value(uid)
		if bytes.Compare(id, last) < 0 {
			return errOutOfOrder
		}
		last = append(last[:0], id...)
		rows++
		return nil
	})
	if errors.Is(err, errOutOfOrder) {
		records, rows = &spans{}, 0
		err = s.each(ctx, row, func(offset, size int64, line int) error {
			records.add(string(row.value(uid)), s.start+offset, int(size), line)
			rows++
			return nil
		})
		records.sort()
	}
	if err == nil && rows > 0 {
		_, err = checkColumns(s.file.name, Query{Columns: row.columns}, row.names, sameName)
	}
	return rows, records, err
}

// each reads all records once, and calls do with the place of each record. It stops at an
// error of do.
func (s *jsonSource) each(ctx context.Context, row *jsonRow, do func(offset, size int64, line int) error) error {
	limited := &fault.RowLimit{Reader: &fileReader{file: s.file, offset: s.start}}
	lines := &lineCounter{r: limited, line: 1}
	d := jsontext.NewDecoder(lines)
	if s.array {
		if err := s.begin(d, lines); err != nil {
			return err
		}
	}
	for n := 0; ; n++ {
		if err := stopped(ctx, s.file.name, n); err != nil {
			return err
		}
		limited.Row = d.InputOffset()
		if s.array && d.PeekKind() == jsontext.KindEndArray {
			return s.end(d, lines)
		}
		offset, err := row.read(d)
		switch {
		case errors.Is(err, io.EOF) && !s.array:
			return nil
		case err != nil:
			return s.syntax(limited.Row, lines, err)
		}
		if err := do(offset, d.InputOffset()-offset, lines.at(offset)); err != nil {
			return err
		}
	}
}

// end reads an array's closing bracket, and refuses text after it.
func (s *jsonSource) end(d *jsontext.Decoder, lines *lineCounter) error {
	_, err := d.ReadToken()
	if err == nil {
		err = leave(d, len(itemsPath(s.items)))
	}
	var extra jsontext.Value
	if err == nil {
		extra, err = d.ReadValue()
	}
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return s.syntax(d.InputOffset(), lines, err)
	}
	line := lines.at(d.InputOffset() - int64(len(extra)))
	return &Error{Place: s.file.at(line), What: "there is text after the end of the array", Fix: "put all rows into one array, or write them without any"}
}

// syntax adds the line to an error of the decoder. The decoder has passed the text before
// offset.
func (s *jsonSource) syntax(offset int64, lines *lineCounter, err error) error {
	start := s.valueStart(offset)
	wrong, isSyntax := errors.AsType[*jsontext.SyntacticError](err)
	kind, isKind := errors.AsType[*rowKindError](err)
	switch {
	case errors.Is(err, fault.ErrLongRow):
		return fault.LongRow(s.file.at(lines.at(start)), fixLongText)
	case isKind:
		return &Error{Place: s.file.at(lines.at(start)), What: kind.Error(), Fix: `write it as {"column": "value"}`}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{Place: s.file.at(lines.at(start)), What: "the JSON that begins here has no end", Fix: "the file looks cut off; write it again"}
	case isSyntax:
		return s.wrong(lines.at(wrong.ByteOffset), wrong)
	}
	return s.file.readError(lines.at(start), err)
}

// wrong returns the error for text that isn't JSON, or that lynqctl doesn't accept.
func (s *jsonSource) wrong(line int, err *jsontext.SyntacticError) error {
	place := s.file.at(line)
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return &Error{Place: place, What: fmt.Sprintf("key %s appears twice in one object", phrase.Quote(err.JSONPointer.LastToken())), Fix: "remove one"}
	}
	what := "this is not JSON"
	if column := s.columnOf(err.JSONPointer); column != "" {
		what = fmt.Sprintf("column %s is not JSON", phrase.Quote(column))
	}
	return &Error{Place: place, What: what, Fix: `each row is an object like {"id": "a"}, as UTF-8 text`, Err: err.Err}
}

// columnOf returns the column that a pointer leads to, or "".
func (s *jsonSource) columnOf(p jsontext.Pointer) string {
	tokens := slices.Collect(p.Tokens())
	// The first tokens lead to the row.
	above := len(itemsPath(s.items))
	if s.array {
		above++
	}
	tokens = tokens[min(above, len(tokens)):]
	if len(tokens) == 0 {
		return ""
	}
	return tokens[0]
}

// valueStart returns the start of the next value from offset on.
func (s *jsonSource) valueStart(offset int64) int64 {
	var next [512]byte
	n, err := s.file.ReadAt(next[:], s.start+offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return offset // this is only for the message of another error
	}
	for i, c := range next[:n] {
		if c != ',' && !isJSONSpace(c) {
			return offset + int64(i)
		}
	}
	return offset
}

// emitInOrder is the second reading of a file whose rows are in order. It reports whether
// the caller took all records.
func (s *jsonSource) emitInOrder(ctx context.Context, b *builder, row *jsonRow, rows int, emit func(lynq.Row) bool) (bool, error) {
	err := s.each(ctx, row, func(_, _ int64, line int) error {
		rec, err := s.record(b, row, line)
		if err == nil && !emit(rec) {
			err = errUnwanted
		}
		return err
	})
	switch {
	case errors.Is(err, errUnwanted):
		return false, nil
	case err == nil && b.count != rows:
		err = s.file.changed()
	}
	return err == nil, err
}

// record returns the record that row has read.
func (s *jsonSource) record(b *builder, row *jsonRow, line int) (lynq.Row, error) {
	for i := range row.columns {
		b.text = append(b.text, row.value(i)...)
		b.end(row.isNull(i))
	}
	return b.record(line, s.Place)
}

// emit is the second reading of a file whose rows are out of order. It reports whether the
// caller took all records.
func (s *jsonSource) emit(ctx context.Context, b *builder, row *jsonRow, records *spans, emit func(lynq.Row) bool) (bool, error) {
	r := newSpanReader(s.file, records)
	text := bytes.NewReader(nil)
	d := jsontext.NewDecoder(text)
	for i, sp := range records.list {
		if err := stopped(ctx, s.file.name, i); err != nil {
			return false, err
		}
		raw, err := r.read(sp)
		if err != nil {
			return false, s.file.gone(sp.line, err)
		}
		text.Reset(raw)
		d.Reset(text)
		// The first reading accepted these bytes, but the file may have changed.
		if _, err := row.read(d); err != nil || d.InputOffset() != int64(len(raw)) {
			return false, s.file.changed()
		}
		rec, err := s.record(b, row, sp.line)
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

// lineCounter finds the line of an offset. Its callers ask for growing offsets only.
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

// at returns the line of offset. Offsets must not decrease.
func (l *lineCounter) at(offset int64) int {
	passed := 0
	for passed < len(l.breaks) && l.breaks[passed] < offset {
		passed++
	}
	l.line += passed
	l.breaks = l.breaks[:copy(l.breaks, l.breaks[passed:])]
	return l.line
}

func isJSONSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// Describe implements Source. It returns the keys of all rows.
func (s *jsonSource) Describe(ctx context.Context) ([]Column, error) {
	row := newJSONRow(Query{})
	if err := s.each(ctx, row, func(int64, int64, int) error { return nil }); err != nil {
		return nil, err
	}
	return named(row.names), nil
}
