package buffer

import (
	"os"
	"sync"
)

// The sizes of Pages.
const (
	// pagesInMemory is how many bytes stay in memory before the first ones go to the file.
	// Most runs are smaller, and need no file.
	pagesInMemory = 1 << 20
	// segmentSize is the size of one piece of the file. It is a multiple of each system's
	// page.
	segmentSize = 16 << 20
)

// Pages keeps bytes in a temporary file, and the caller reads them there as if they were in
// memory. A run of many nodes renders every manifest, and needs few of them again. If Pages
// can't use a file, it keeps the bytes in memory. Several goroutines may use it. The zero
// Pages is ready.
type Pages struct {
	mu       sync.Mutex
	kept     int // all bytes so far
	file     *os.File
	segments [][]byte // each piece of the file as the process sees it
	used     int      // bytes of the last segment
	failed   bool     // no file can be used, so all bytes stay in memory
}

// Keep returns the same bytes, which nobody may change. They stay valid until the process
// ends, because the file does.
func (p *Pages) Keep(b []byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kept += len(b); !pagesWork || p.failed || p.kept <= pagesInMemory || len(b) > segmentSize {
		return b
	}
	if len(p.segments) == 0 || p.used+len(b) > segmentSize {
		if p.failed = p.grow() != nil; p.failed {
			return b
		}
	}
	last := len(p.segments) - 1
	if _, err := p.file.WriteAt(b, int64(last*segmentSize+p.used)); err != nil {
		p.failed = true // the disk is full, for example
		return b
	}
	from := p.used
	p.used += len(b)
	return p.segments[last][from:p.used:p.used]
}

// grow adds a segment.
func (p *Pages) grow() error {
	if p.file == nil {
		f, err := temporaryFile()
		if err != nil {
			return err
		}
		p.file = f
	}
	size := int64(len(p.segments)) * segmentSize
	if err := p.file.Truncate(size + segmentSize); err != nil {
		return err
	}
	segment, err := mapped(p.file, size, segmentSize)
	if err != nil {
		return err
	}
	p.segments, p.used = append(p.segments, segment), 0
	return nil
}
