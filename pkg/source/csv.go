package source

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/source/fault"
)

// csvSource reads a CSV file (RFC 4180) with a header row.
type csvSource struct{ file *dataFile }

func openCSV(ctx context.Context, c endpoint.Connection, stdin io.Reader) (Source, error) {
	file, err := openData(ctx, c, stdin)
	if err != nil {
		return nil, err
	}
	return &csvSource{file: file}, nil
}

// Place implements Source.
func (s *csvSource) Place(line int) string { return s.file.at(line) }

// Close implements Source.
func (s *csvSource) Close() error { return s.file.Close() }

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
		found, records, err := s.index(ctx, q, b.uid)
		if err != nil {
			return err
		}
		more, err := s.emit(ctx, b, found, records, emit)
		if err != nil || !more {
			return err
		}
		return s.file.unchanged(before)
	})
}

// index is the first reading: where each queried column is, and each record.
func (s *csvSource) index(ctx context.Context, q Query, uid int) ([]int, *spans, error) {
	start, err := s.file.textStart()
	if err != nil {
		return nil, nil, err
	}
	limited := &fault.RowLimit{Reader: &fileReader{file: s.file, offset: start}}
	r := csv.NewReader(bufio.NewReaderSize(limited, 256<<10))
	r.ReuseRecord = true
	found, err := s.header(r, q)
	if err != nil {
		return nil, nil, err
	}
	records := &spans{}
	for {
		if err := stopped(ctx, s.file.name, len(records.list)); err != nil {
			return nil, nil, err
		}
		offset := r.InputOffset()
		limited.Row = offset
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			records.sort()
			return found, records, nil
		}
		if errors.Is(err, fault.ErrLongRow) {
			return nil, nil, fault.LongRow(s.file.atOffset(start+offset), fixLongText)
		}
		if err != nil {
			return nil, nil, s.failed(err, r.FieldsPerRecord, len(row))
		}
		line, _ := r.FieldPos(0)
		records.add(row[found[uid]], start+offset, int(r.InputOffset()-offset), line)
	}
}

// header reads the first row, which names the columns, and finds q's among
// them.
func (s *csvSource) header(r *csv.Reader, q Query) ([]int, error) {
	row, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, &Error{Place: s.file.name, What: "the file is empty", Fix: "its first line must name the columns"}
	}
	if err != nil {
		return nil, s.failed(err, 0, 0)
	}
	names := slices.Clone(row)
	line, _ := r.FieldPos(0)
	for i, name := range names {
		// Spreadsheets leave empty columns behind; those name nothing.
		if name == "" || !slices.Contains(names[:i], name) {
			continue
		}
		what := fmt.Sprintf("column %q appears twice", name)
		if !looksLikeColumn(name) {
			what = fmt.Sprintf("the name of column %d appears twice", i+1)
		}
		return nil, &Error{Place: s.file.at(line), What: what, Fix: "rename or remove one"}
	}
	found, err := checkColumns(s.file.at(line), q, names, sameName)
	if missing, ok := errors.AsType[*MissingColumnsError](err); ok && len(names) == 1 && len(missing.Missing) == len(q.Columns) {
		// This may be the first line of any file.
		missing.Have, missing.Fix = nil, "its first line must name the columns, separated by commas"
	}
	return found, err
}

// failed is a parse error with its place. want and got count a row's values.
func (s *csvSource) failed(err error, want, got int) error {
	parse, ok := errors.AsType[*csv.ParseError](err)
	switch {
	case errors.Is(err, fault.ErrLongRow):
		return fault.LongRow(s.file.at(1), fixLongText)
	case !ok:
		return s.file.readError(0, err)
	case errors.Is(err, csv.ErrFieldCount):
		return &Error{
			Place: s.file.at(parse.StartLine),
			What:  fmt.Sprintf("the row has %d values, the header %d columns", got, want),
			Fix:   `put values that hold commas or line breaks in double quotes`,
		}
	case errors.Is(err, csv.ErrQuote) && parse.StartLine == parse.Line:
		return &Error{Place: s.file.at(parse.Line), What: "the row is not CSV", Fix: "close the quote; a quote inside quotes is doubled", Err: parse.Err}
	case parse.StartLine != parse.Line:
		return &Error{Place: s.file.at(parse.Line), What: fmt.Sprintf("the row that begins in line %d is not CSV", parse.StartLine), Fix: `look for a missing closing quote; a quote inside quotes is doubled`, Err: parse.Err}
	}
	return &Error{Place: s.file.at(parse.Line), What: "the row is not CSV", Fix: `put the value in double quotes and double the quotes in it`, Err: parse.Err}
}

// emit is the second reading. It tells whether all records were wanted.
func (s *csvSource) emit(ctx context.Context, b *builder, found []int, records *spans, emit func(lynq.Row) bool) (bool, error) {
	r := csv.NewReader(bufio.NewReaderSize(&rowReader{spans: newSpanReader(s.file, records), rest: records.list}, 64<<10))
	r.ReuseRecord = true
	for i, sp := range records.list {
		if err := stopped(ctx, s.file.name, i); err != nil {
			return false, err
		}
		row, err := r.Read()
		if err != nil || len(row) <= slices.Max(found) || row[found[b.uid]] != sp.uid {
			return false, s.file.gone(sp.line, err)
		}
		for j, field := range found {
			b.rec.Values[j] = row[field]
		}
		b.rec.Line = sp.line
		rec, err := b.finish(s.Place)
		if err != nil {
			return false, err
		}
		if !emit(rec) {
			return false, nil
		}
	}
	return true, nil
}

// rowReader is the records' bytes one after the other, each with a line break.
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
		// The file's last row may lack a line break; a blank line is nothing.
		r.buffer = append(append(r.buffer[:0], row...), '\n')
		r.pending, r.rest = r.buffer, r.rest[1:]
	}
	n := copy(p, r.pending)
	r.pending = r.pending[n:]
	return n, nil
}

// fileReader reads a file from offset on, leaving the file's own position be.
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
