package source

import (
	"io"
	"slices"
	"strings"
)

// span is where one record is in its file. The uids and places of all records
// are what is kept in memory of a file.
type span struct {
	uid    string
	offset int64
	size   int
	line   int
}

// spans are a file's records in byte order of their uids, equal ones in file
// order.
type spans struct {
	list    []span
	ordered bool // the file has them in this order
	text    strings.Builder
}

// add appends the file's next record; the uid's text is copied.
func (s *spans) add(uid string, offset int64, size, line int) {
	s.list = append(s.list, span{uid: s.keep(uid), offset: offset, size: size, line: line})
}

// keep copies text into a block that many uids share: a substring would hold
// its whole row in memory, and a copy of each would be many small ones.
func (s *spans) keep(text string) string {
	const block = 64 << 10
	if s.text.Cap()-s.text.Len() < len(text) {
		s.text = strings.Builder{}
		s.text.Grow(max(block, len(text)))
	}
	start := s.text.Len()
	s.text.WriteString(text)
	return s.text.String()[start:]
}

// sort brings the records in order once all are added.
func (s *spans) sort() {
	byUID := func(a, b span) int { return strings.Compare(a.uid, b.uid) }
	s.ordered = slices.IsSortedFunc(s.list, byUID)
	if !s.ordered {
		slices.SortStableFunc(s.list, byUID)
	}
}

// spanReader reads the bytes of records by their spans. Where the file has them
// in order it reads ahead.
type spanReader struct {
	file   io.ReaderAt
	ahead  int
	buffer []byte
	offset int64 // of buffer in the file
}

func newSpanReader(file io.ReaderAt, s *spans) *spanReader {
	r := &spanReader{file: file}
	if s.ordered {
		r.ahead = 256 << 10
	}
	return r
}

// read is the record at sp. The bytes are valid until the next call. io.EOF
// means that the file has become shorter.
func (r *spanReader) read(sp span) ([]byte, error) {
	start := sp.offset - r.offset
	if start >= 0 && start+int64(sp.size) <= int64(len(r.buffer)) {
		return r.buffer[start : start+int64(sp.size)], nil
	}
	want := max(sp.size, r.ahead)
	r.buffer = slices.Grow(r.buffer[:0], want)[:want]
	n, err := r.file.ReadAt(r.buffer, sp.offset)
	r.buffer, r.offset = r.buffer[:n], sp.offset
	if n < sp.size {
		return nil, err
	}
	return r.buffer[:sp.size], nil
}
