package buffer

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// Buffer stores rendered nodes until the caller writes all of them, because a pipe must
// never receive a partial result. It uses memory up to a limit, and then a temporary file
// that only its owner may read.
type Buffer struct {
	bound   int
	chunks  [][]byte
	file    *os.File
	ends    []int64 // ends of the nodes, in the order of Add
	dropped map[int]bool
}

// DefaultMemory is the usual limit for the bytes in memory.
const DefaultMemory = 32 << 20

// chunkSize is the size of one piece of memory. A single growing buffer would copy itself,
// and need twice the memory.
const chunkSize = 1 << 20

// New returns a Buffer that stores at most about bound bytes in memory.
func New(bound int) *Buffer { return &Buffer{bound: bound, dropped: map[int]bool{}} }

// Add adds the bytes of the next node.
func (s *Buffer) Add(node []byte) error {
	end := int64(len(node))
	if n := len(s.ends); n > 0 {
		end += s.ends[n-1]
	}
	s.ends = append(s.ends, end)
	for len(node) > 0 {
		last := len(s.chunks) - 1
		if last < 0 || len(s.chunks[last]) == cap(s.chunks[last]) {
			if err := s.grow(); err != nil {
				return err
			}
			last = len(s.chunks) - 1
		}
		c := s.chunks[last]
		n := min(len(node), cap(c)-len(c))
		s.chunks[last] = append(c, node[:n]...)
		node = node[n:]
	}
	return nil
}

// grow makes room in the last chunk. It adds a chunk up to the limit, and then writes the
// chunks to the file.
func (s *Buffer) grow() error {
	if s.file == nil && len(s.chunks)*chunkSize < s.bound {
		s.chunks = append(s.chunks, make([]byte, 0, chunkSize))
		return nil
	}
	if s.file == nil {
		f, err := temporaryFile()
		if err != nil {
			return fmt.Errorf("keep the output until all of it is rendered: %w (set TMPDIR to a place with room, or write as it goes with --stream)", err)
		}
		s.file = f
	}
	return s.flush()
}

// temporaryFile creates a file that the system deletes when nobody has it open, if the
// system can do that.
func temporaryFile() (*os.File, error) {
	f, err := os.CreateTemp("", "lynqctl-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // fails on Windows, where Close removes it
	return f, nil
}

// flush writes the chunks to the file, and keeps an empty one.
func (s *Buffer) flush() error {
	for _, c := range s.chunks {
		if _, err := s.file.Write(c); err != nil {
			return fmt.Errorf("keep the output until all of it is rendered: %w (set TMPDIR to a place with room, or write as it goes with --stream)", err)
		}
	}
	if len(s.chunks) == 0 {
		s.chunks = append(s.chunks, make([]byte, 0, chunkSize))
	}
	s.chunks = [][]byte{s.chunks[0][:0]}
	return nil
}

// Drop drops nodes by their index in the order of Add.
func (s *Buffer) Drop(nodes ...int) {
	for _, i := range nodes {
		s.dropped[i] = true
	}
}

// WriteTo writes all nodes that were not dropped.
func (s *Buffer) WriteTo(w io.Writer) (int64, error) {
	var r io.Reader = &chunkReader{chunks: s.chunks}
	if s.file != nil {
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
		r = io.MultiReader(s.file, r)
	}
	var written, position int64
	for _, gap := range s.gaps() {
		n, err := io.CopyN(w, r, gap.start-position)
		written += n
		if err != nil {
			return written, err
		}
		if _, err := io.CopyN(io.Discard, r, gap.end-gap.start); err != nil {
			return written, err
		}
		position = gap.end
	}
	n, err := io.Copy(w, r)
	return written + n, err
}

type span struct{ start, end int64 }

// gaps returns the places of the dropped nodes in order.
func (s *Buffer) gaps() []span {
	gaps := make([]span, 0, len(s.dropped))
	for i := range s.dropped {
		g := span{end: s.ends[i]}
		if i > 0 {
			g.start = s.ends[i-1]
		}
		gaps = append(gaps, g)
	}
	// A node without bytes has the same start as the next one.
	slices.SortFunc(gaps, func(a, b span) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	return gaps
}

// Close deletes the temporary file.
func (s *Buffer) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if removeErr := os.Remove(s.file.Name()); !errors.Is(removeErr, os.ErrNotExist) {
		err = errors.Join(err, removeErr)
	}
	return err
}

// chunkReader reads one chunk after the other.
type chunkReader struct{ chunks [][]byte }

func (r *chunkReader) Read(p []byte) (int, error) {
	for len(r.chunks) > 0 && len(r.chunks[0]) == 0 {
		r.chunks = r.chunks[1:]
	}
	if len(r.chunks) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.chunks[0])
	r.chunks[0] = r.chunks[0][n:]
	return n, nil
}

// WriteTo implements io.WriterTo. It writes whole chunks.
func (r *chunkReader) WriteTo(w io.Writer) (int64, error) {
	var written int64
	for _, c := range r.chunks {
		n, err := w.Write(c)
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
	r.chunks = nil
	return written, nil
}
