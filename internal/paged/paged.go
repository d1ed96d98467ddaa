package paged

import (
	"os"
	"sync"
)

// The sizes of a Store.
const (
	// inMemory is how many bytes stay in memory before the first ones go to the file. Most
	// runs are smaller, and need no file.
	inMemory = 4 << 20
	// segmentSize is the size of one piece of the file. It is a multiple of each system's
	// page.
	segmentSize = 16 << 20
)

// Store keeps bytes in a file. Several goroutines may use it. The zero Store is ready.
type Store struct {
	mu       sync.Mutex
	kept     int // bytes that stayed in memory
	file     *os.File
	segments [][]byte // each piece of the file as the process sees it
	used     int      // bytes of the last segment
	failed   bool     // no file can be used, so all bytes stay in memory
}

// Keep returns the same bytes, which nobody may change. They stay valid until the process
// ends, because the file does.
func (s *Store) Keep(b []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept += len(b); !works || s.failed || s.kept <= inMemory || len(b) > segmentSize {
		return b
	}
	if len(s.segments) == 0 || s.used+len(b) > segmentSize {
		if s.failed = s.grow() != nil; s.failed {
			return b
		}
	}
	last := len(s.segments) - 1
	if _, err := s.file.WriteAt(b, int64(last*segmentSize+s.used)); err != nil {
		s.failed = true // the disk is full, for example
		return b
	}
	from := s.used
	s.used += len(b)
	return s.segments[last][from:s.used:s.used]
}

// grow adds a segment.
func (s *Store) grow() error {
	if s.file == nil {
		f, err := os.CreateTemp("", "lynqctl-*")
		if err != nil {
			return err
		}
		s.file = f
		if err := os.Remove(f.Name()); err != nil {
			return err
		}
	}
	size := int64(len(s.segments)) * segmentSize
	if err := s.file.Truncate(size + segmentSize); err != nil {
		return err
	}
	segment, err := mapped(s.file, size, segmentSize)
	if err != nil {
		return err
	}
	s.segments, s.used = append(s.segments, segment), 0
	return nil
}
