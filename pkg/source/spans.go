package source

import (
	"io"
	"slices"
	"strings"
)

// span is the place of one record in its file. Only uids and spans of records stay in
// memory.
type span struct {
	uid    string
	offset int64
	size   int
	line   int
}

// spans are a file's records in byte order of their uids. Records with equal uids have
// file order.
type spans struct {
	list    []span
	ordered bool // the file has this order
	text    strings.Builder
}

// add appends the file's next record and copies the text of its uid.
func (s *spans) add(uid string, offset int64, size, line int) {
	s.list = append(s.list, span{uid: s.keep(uid), offset: offset, size: size, line: line})
}

// keep copies text into a block for many uids. A substring would keep its whole row in
// memory, and single copies would be many small allocations.
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

// sort orders the records after all are added.
func (s *spans) sort() {
	byUID := func(a, b span) int { return strings.Compare(a.uid, b.uid) }
	s.ordered = slices.IsSortedFunc(s.list, byUID)
	if !s.ordered {
		slices.SortStableFunc(s.list, byUID)
	}
}

// spanReader reads the bytes of records by their spans. If the file has them in order, it
// reads ahead.
type spanReader struct {
	file   io.ReaderAt
	ahead  int
	buffer []byte
	offset int64 // the buffer's place in the file
}

func newSpanReader(file io.ReaderAt, s *spans) *spanReader {
	r := &spanReader{file: file}
	if s.ordered {
		r.ahead = 256 << 10
	}
	return r
}

// read returns the record at sp. The bytes are valid until the next call. io.EOF means
// that the file has become shorter.
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
