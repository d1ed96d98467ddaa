package source

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
	"github.com/lynqctl/lynqctl/pkg/source/fault"
)

// csvSource reads a CSV file (RFC 4180) with a header row.
type csvSource struct {
	fileSource
	comma byte // it separates values
}

func openCSV(ctx context.Context, c endpoint.Connection, from given) (Source, error) {
	file, err := openData(ctx, c, from.stdin)
	if err != nil {
		return nil, err
	}
	return &csvSource{fileSource: fileSource{file}, comma: cmp.Or(c.File.Separator, endpoint.Separators()[0])[0]}, nil
}

// separated fills in the separator of a CSV file, unless it is a comma.
func separated(ctx context.Context, c endpoint.Connection) (endpoint.Connection, error) {
	if c.File.Separator != "" {
		return c, nil
	}
	src, err := openCSV(ctx, c, given{})
	if err != nil {
		return c, err
	}
	defer func() { _ = src.Close() }() // nothing was written
	columns, err := src.Describe(ctx)
	if err != nil {
		return c, err
	}
	if len(columns) == 1 {
		c.File.Separator = likelySeparator([]string{columns[0].Name})
	}
	return c, nil
}

// Records implements Source. It reads the file twice: for the order, and for
// the values.
func (s *csvSource) Records(ctx context.Context, q Query) iter.Seq2[lynq.Row, error] {
	return stream(func(emit func(lynq.Row) bool) error {
		b, err := newBuilder(q, fixFileText)
		if err != nil {
			return err
		}
		before, err := s.file.version()
		if err != nil {
			return err
		}
		t, err := s.index(ctx, q, b.uid)
		if err != nil {
			return err
		}
		more, err := s.emit(ctx, b, t, emit)
		if err != nil || !more {
			return err
		}
		return s.file.unchanged(before)
	})
}

// csvTable is the result of the first reading.
type csvTable struct {
	columns []int // position of each queried column
	start   int64 // offset of the file's text
	rows    int
	// records are nil if the file has the rows in the order of their uids. emit then reads
	// the file from start to end again.
	records *spans
}

// index is the first reading. It stores the places of records only if two of them are out
// of order. It then begins again.
func (s *csvSource) index(ctx context.Context, q Query, uid int) (*csvTable, error) {
	t, ordered, err := s.read(ctx, q, uid, nil)
	if err != nil || ordered {
		return t, err
	}
	records := &spans{}
	if t, _, err = s.read(ctx, q, uid, records); err != nil {
		return nil, err
	}
	records.sort()
	t.records = records
	return t, nil
}

// read reads all rows, and adds their places to records. If records is nil, it stops at
// the first row that is out of order.
func (s *csvSource) read(ctx context.Context, q Query, uid int, records *spans) (t *csvTable, ordered bool, err error) {
	r, limited, err := s.reader()
	if err != nil {
		return nil, false, err
	}
	t = &csvTable{start: limited.start}
	if t.columns, err = s.header(r, q); err != nil {
		return nil, false, err
	}
	for last := []byte(nil); ; t.rows++ {
		if err := stopped(ctx, s.file.name, t.rows); err != nil {
			return nil, false, err
		}
		offset := r.offset
		limited.Row = offset
		row, err := r.read()
		if errors.Is(err, io.EOF) {
			return t, true, nil
		}
		if errors.Is(err, fault.ErrLongRow) {
			return nil, false, fault.LongRow(s.file.atOffset(t.start+offset), fixLongText)
		}
		if err != nil {
			return nil, false, s.failed(err, r.want, row)
		}
		switch id := row[t.columns[uid]]; {
		case records != nil:
			records.add(string(id), t.start+offset, int(r.offset-offset), r.start)
		case bytes.Compare(id, last) < 0:
			return t, false, nil
		default:
			last = append(last[:0], id...)
		}
	}
}

// limitedText is a file's text with its offset.
type limitedText struct {
	fault.RowLimit
	start int64
}

// reader reads the file from the start of its text, within the limit of a row.
func (s *csvSource) reader() (*csvReader, *limitedText, error) {
	start, err := s.textStart()
	if err != nil {
		return nil, nil, err
	}
	limited := &limitedText{fault.RowLimit{Reader: &csvText{fileReader: fileReader{file: s.file, offset: start}, file: s.file}}, start}
	return newCSVReader(limited, s.comma, 256<<10), limited, nil
}

// header reads the first row, which names the columns, and finds q's among
// them.
func (s *csvSource) header(r *csvReader, q Query) ([]int, error) {
	names, err := s.names(r)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		// Spreadsheets leave empty columns behind; those name nothing.
		if name == "" || !slices.Contains(names[:i], name) {
			continue
		}
		what := fmt.Sprintf("column %q appears twice", name)
		if !slices.Contains(q.Columns, name) {
			what = fmt.Sprintf("the name of column %d appears twice", i+1) // the line may be a row
		}
		return nil, &Error{Place: s.file.at(r.start), What: what, Fix: "rename or remove one"}
	}
	found, err := checkColumns(s.file.at(r.start), q, names, sameName)
	if missing, ok := errors.AsType[*MissingColumnsError](err); ok && !namesColumns(q.Columns, names) {
		// This may be a row, or the first line of any file.
		missing.Have, missing.Fix = nil, "its first line must name the columns, separated by "+separatorName(s.comma)
		if other := likelySeparator(names); other != "" && other != string(s.comma) {
			missing.Fix = fmt.Sprintf("its first line separates by %s: set separator: %q in the hub's csv block", separatorName(other[0]), other)
		}
	}
	return found, err
}

// namesColumns reports whether a first line has at least half of the queried columns, perhaps
// misspelt.
func namesColumns(queried, names []string) bool {
	found := 0
	for _, name := range queried {
		if _, near := suggest.Near(name, names); near {
			found++
		}
	}
	return 2*found >= len(queried)
}

// names reads the first row.
func (s *csvSource) names(r *csvReader) ([]string, error) {
	row, err := r.read()
	if errors.Is(err, io.EOF) {
		return nil, &Error{Place: s.file.name, What: "the file is empty", Fix: "its first line must name the columns"}
	}
	if err != nil {
		return nil, s.failed(err, 0, nil)
	}
	names := make([]string, len(row))
	for i, name := range row {
		names[i] = string(name)
	}
	return names, nil
}

// failed adds the place to a parse error. The row should have want values.
func (s *csvSource) failed(err error, want int, row [][]byte) error {
	parse, ok := errors.AsType[*csv.ParseError](err)
	known, isKnown := errors.AsType[*Error](err)
	switch {
	case isKnown:
		return known
	case errors.Is(err, fault.ErrLongRow):
		return fault.LongRow(s.file.at(1), fixLongText)
	case !ok:
		return s.file.readError(0, err)
	case errors.Is(err, csv.ErrFieldCount):
		return s.ragged(parse.StartLine, want, row)
	case errors.Is(err, csv.ErrQuote) && parse.StartLine == parse.Line:
		return &Error{Place: s.file.at(parse.Line), What: "the row is not CSV", Fix: "close the quote; a quote inside quotes is doubled", Err: parse.Err}
	case parse.StartLine != parse.Line:
		return &Error{Place: s.file.at(parse.Line), What: fmt.Sprintf("the row that begins in line %d is not CSV", parse.StartLine), Fix: `look for a missing closing quote; a quote inside quotes is doubled`, Err: parse.Err}
	}
	return &Error{Place: s.file.at(parse.Line), What: "the row is not CSV", Fix: `put the value in double quotes and double the quotes in it`, Err: parse.Err}
}

// emit is the second reading. It reports whether the caller took all records.
func (s *csvSource) emit(ctx context.Context, b *builder, t *csvTable, emit func(lynq.Row) bool) (bool, error) {
	next, err := s.again(b, t)
	if err != nil {
		return false, err
	}
	for i := range t.rows {
		if err := stopped(ctx, s.file.name, i); err != nil {
			return false, err
		}
		row, line, err := next(i)
		if err != nil || row == nil {
			return false, s.file.gone(line, err)
		}
		for _, field := range t.columns {
			b.add(row[field])
		}
		rec, err := b.record(line, s.Place)
		if err != nil {
			return false, err
		}
		if !emit(rec) {
			return false, nil
		}
	}
	return true, nil
}

// again returns a function that reads the i-th row and its line, in the order of uids. If
// there is no such row, the file has changed.
func (s *csvSource) again(b *builder, t *csvTable) (func(i int) (row [][]byte, line int, err error), error) {
	if t.records == nil {
		return s.inOrder(b, t)
	}
	r := newCSVReader(&rowReader{spans: newSpanReader(s.file, t.records), rest: t.records.list}, s.comma, 64<<10)
	return func(i int) ([][]byte, int, error) {
		row, err := r.read()
		sp := t.records.list[i]
		if err != nil || len(row) <= slices.Max(t.columns) || string(row[t.columns[b.uid]]) != sp.uid {
			row = nil
		}
		return row, sp.line, err
	}, nil
}

// inOrder returns a function that reads the rows in the file's order.
func (s *csvSource) inOrder(b *builder, t *csvTable) (func(int) ([][]byte, int, error), error) {
	r, limited, err := s.reader()
	if err != nil {
		return nil, err
	}
	if _, err := r.read(); err != nil { // the header
		return nil, s.file.gone(1, err)
	}
	line := 1
	return func(int) ([][]byte, int, error) {
		limited.Row = r.offset
		row, err := r.read()
		if err != nil {
			return nil, line + 1, err
		}
		line = r.start
		if len(row) <= slices.Max(t.columns) || string(row[t.columns[b.uid]]) < b.last {
			row = nil
		}
		return row, line, nil
	}, nil
}

// rowReader reads the bytes of one record after the other, each with a line break.
type rowReader struct {
	spans   *spanReader
	rest    []span
	pending []byte
	buffer  []byte
}

// Read implements io.Reader.
func (r *rowReader) Read(p []byte) (int, error) {
	if len(r.pending) == 0 {
		if len(r.rest) == 0 {
			return 0, io.EOF
		}
		row, err := r.spans.read(r.rest[0])
		if err != nil {
			return 0, err
		}
		// The file's last row may lack a line break. The parser skips a blank line.
		r.buffer = append(append(r.buffer[:0], row...), '\n')
		r.pending, r.rest = r.buffer, r.rest[1:]
	}
	n := copy(p, r.pending)
	r.pending = r.pending[n:]
	return n, nil
}

// fileReader reads a file from an offset on, without changing the file's position.
type fileReader struct {
	file   io.ReaderAt
	offset int64
}

// Read implements io.Reader.
func (r *fileReader) Read(p []byte) (int, error) {
	n, err := r.file.ReadAt(p, r.offset)
	r.offset += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

// Describe implements Source. A file has only names, no types.
func (s *csvSource) Describe(ctx context.Context) ([]Column, error) {
	if err := stopped(ctx, s.file.name, 0); err != nil {
		return nil, err
	}
	r, _, err := s.reader()
	if err != nil {
		return nil, err
	}
	names, err := s.names(r)
	if err != nil {
		return nil, err
	}
	return named(slices.DeleteFunc(names, func(name string) bool { return name == "" })), nil
}
