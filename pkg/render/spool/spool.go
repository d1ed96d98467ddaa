package spool

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// Spool keeps what is rendered until it is asked to write it: what
// follows in a pipe must not take a part for the whole. Up to a bound it keeps
// it in memory, beyond in a temporary file that only its owner may read.
type Spool struct {
	bound   int
	chunks  [][]byte
	file    *os.File
	ends    []int64 // of the nodes, in the order they were added
	dropped map[int]bool
}

// DefaultMemory limits the bytes that a Spool usually keeps in memory.
const DefaultMemory = 32 << 20

// chunkSize is the size of the pieces of memory: what grows by copying would
// take twice the memory.
const chunkSize = 1 << 20

// New makes a Spool that keeps at most about bound bytes in memory.
func New(bound int) *Spool { return &Spool{bound: bound, dropped: map[int]bool{}} }

// Add takes the bytes of the next node.
func (s *Spool) Add(node []byte) error {
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

// grow makes room in the last chunk: by another one up to the bound; from then
// on by writing to the file.
func (s *Spool) grow() error {
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

// temporaryFile makes a file that is gone as soon as no one has it open, where
// the system can do that.
func temporaryFile() (*os.File, error) {
	f, err := os.CreateTemp("", "lynqctl-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // not on Windows: Close does it there
	return f, nil
}

// flush writes the chunks to the file and leaves one of them, empty.
func (s *Spool) flush() error {
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

// Drop takes nodes back, by the order in which they were added.
func (s *Spool) Drop(nodes ...int) {
	for _, i := range nodes {
		s.dropped[i] = true
	}
}

// WriteTo writes all nodes that were not dropped.
func (s *Spool) WriteTo(w io.Writer) (int64, error) {
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

// gaps are the places of the dropped nodes, in order.
func (s *Spool) gaps() []span {
	gaps := make([]span, 0, len(s.dropped))
	for i := range s.dropped {
		g := span{end: s.ends[i]}
		if i > 0 {
			g.start = s.ends[i-1]
		}
		gaps = append(gaps, g)
	}
	// Nodes without bytes share their start with what follows them.
	slices.SortFunc(gaps, func(a, b span) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	return gaps
}

// Close frees the temporary file.
func (s *Spool) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if removeErr := os.Remove(s.file.Name()); !errors.Is(removeErr, os.ErrNotExist) {
		err = errors.Join(err, removeErr)
	}
	return err
}

// chunkReader reads chunks one after the other.
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

// WriteTo implements io.WriterTo: whole chunks at a time.
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
