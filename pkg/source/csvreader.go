package source

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
)

// csvReader reads records as encoding/csv does, with its errors. But it keeps CR LF in
// quotes, which encoding/csv turns into LF.
type csvReader struct {
	in     *bufio.Reader
	comma  byte     // it separates values
	offset int64    // of the text after the last record
	lines  int      // lines read so far
	start  int      // line where the last record starts
	want   int      // fields of each record; 0 before the first
	fields [][]byte // of the last record; valid until the next read
	long   []byte   // a line that the buffer of in can't hold
	text   []byte   // the fields of a record with quotes, joined
	ends   []int    // the end of each in text
}

func newCSVReader(in io.Reader, comma byte, buffer int) *csvReader {
	return &csvReader{in: bufio.NewReaderSize(in, buffer), comma: comma}
}

// line reads a line with its end. A CR at the end of the file ends the line, too. The line
// is valid until the next call.
func (r *csvReader) line() ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		r.long = append(r.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = r.in.ReadSlice('\n')
			r.long = append(r.long, line...)
		}
		line = r.long
	}
	r.offset += int64(len(line))
	if errors.Is(err, io.EOF) && len(line) > 0 {
		line, err = bytes.TrimSuffix(line, []byte("\r")), nil
	}
	if err == nil {
		r.lines++ // the end of the file is no line
	}
	return line, err
}

// read reads the next record, and returns its fields. It skips empty lines. If the record
// has another number of fields than the first one, it returns both fields and error.
func (r *csvReader) read() ([][]byte, error) {
	line, err := r.line()
	for err == nil && ends(line) {
		line, err = r.line()
	}
	if err != nil {
		return nil, err
	}
	r.start = r.lines
	if bytes.IndexByte(line, '"') < 0 {
		r.split(content(line))
	} else if err := r.quoted(line); err != nil {
		return nil, err
	}
	if r.want == 0 {
		r.want = len(r.fields)
	}
	if len(r.fields) != r.want {
		return r.fields, r.wrong(csv.ErrFieldCount)
	}
	return r.fields, nil
}

// split takes the fields of a line without quotes.
func (r *csvReader) split(line []byte) {
	r.fields = r.fields[:0]
	for {
		comma := bytes.IndexByte(line, r.comma)
		if comma < 0 {
			r.fields = append(r.fields, line)
			return
		}
		r.fields = append(r.fields, line[:comma])
		line = line[comma+1:]
	}
}

// quoted takes the fields of a record that begins with a line, and may go on.
func (r *csvReader) quoted(line []byte) error {
	r.text, r.ends = r.text[:0], r.ends[:0]
	for more := true; more; {
		var err error
		if len(line) > 0 && line[0] == '"' {
			line, more, err = r.inQuotes(line[1:])
		} else {
			var value []byte
			if value, line, more = bytes.Cut(line, []byte{r.comma}); !more {
				value = content(value)
			}
			if bytes.IndexByte(value, '"') >= 0 {
				err = r.wrong(csv.ErrBareQuote)
			}
			r.text = append(r.text, value...)
		}
		if err != nil {
			return err
		}
		r.ends = append(r.ends, len(r.text))
	}
	r.fields = r.fields[:0]
	start := 0
	for _, end := range r.ends {
		r.fields = append(r.fields, r.text[start:end])
		start = end
	}
	return nil
}

// inQuotes takes a field after its opening quote. It returns the text after the separator, and
// whether there is one.
func (r *csvReader) inQuotes(line []byte) (rest []byte, more bool, err error) {
	for {
		quote := bytes.IndexByte(line, '"')
		if quote < 0 {
			r.text = append(r.text, line...)
			if line, err = r.line(); errors.Is(err, io.EOF) {
				return nil, false, r.wrong(csv.ErrQuote)
			} else if err != nil {
				return nil, false, err
			}
			continue
		}
		r.text = append(r.text, line[:quote]...)
		switch line = line[quote+1:]; {
		case ends(line):
			return nil, false, nil
		case line[0] == r.comma:
			return line[1:], true, nil
		case line[0] != '"':
			return nil, false, r.wrong(csv.ErrQuote)
		}
		r.text = append(r.text, '"')
		line = line[1:]
	}
}

// wrong returns the error for the last record.
func (r *csvReader) wrong(err error) error {
	return &csv.ParseError{StartLine: max(r.start, 1), Line: r.lines, Err: err}
}

// ends reports whether nothing but the end of a line is left.
func ends(line []byte) bool { return len(content(line)) == 0 }

// content returns a line without its end.
func content(line []byte) []byte {
	if before, ok := bytes.CutSuffix(line, []byte("\n")); ok {
		return bytes.TrimSuffix(before, []byte("\r"))
	}
	return line
}
