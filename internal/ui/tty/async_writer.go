package tty

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// hangLimit is how long a write may hang after the process was told to end.
const hangLimit = time.Second

// largestPiece limits the text that an asyncWriter hands over at once.
const largestPiece = 64 << 10

// errUnread ends writes to a reader that hangs. The process was told to end.
var errUnread = fmt.Errorf("nobody reads the output: %w", context.Canceled)

// Lossy says how an Output drops text that nobody reads.
type Lossy struct {
	// Most limits the bytes that wait for the reader.
	Most int
	// Note returns the text that replaces dropped lines.
	Note func(lines int) []byte
	// Dropped, if not nil, counts dropped lines. It must be quick.
	Dropped func(lines int)
}

// asyncWriter writes to a file in a goroutine of its own, because a reader that hangs blocks a
// write for ever. Callers wait for their writes, but not long after over is closed. A lossy
// asyncWriter never makes them wait. It drops text when too much waits.
type asyncWriter struct {
	to   io.Writer
	over <-chan struct{}

	writing sync.Mutex // held by a caller that waits, so that no other text comes between

	mu      sync.Mutex
	more    *sync.Cond // the queue got a piece
	running bool
	queue   []piece
	waiting int // bytes of the queue, and of the current write
	lossy   *Lossy
	dropped int // lines since the last note
	unread  bool
}

// piece is a text that waits. done, if not nil, receives the result of its write.
type piece struct {
	text []byte
	done chan error
}

func newAsyncWriter(to io.Writer, over <-chan struct{}) *asyncWriter {
	r := &asyncWriter{to: to, over: over}
	r.more = sync.NewCond(&r.mu)
	return r
}

func (r *asyncWriter) Write(p []byte) (int, error) {
	if r.offered(p) {
		return len(p), nil
	}
	r.writing.Lock()
	defer r.writing.Unlock()
	for part := range slices.Chunk(p, largestPiece) {
		if err := r.wait(bytes.Clone(part)); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// wait hands over a text and waits for its write.
func (r *asyncWriter) wait(text []byte) error {
	r.mu.Lock()
	if r.unread {
		r.mu.Unlock()
		return errUnread
	}
	done := make(chan error, 1)
	r.put(piece{text, done})
	r.mu.Unlock()
	select {
	case err := <-done:
		return err
	case <-r.over:
	}
	select {
	case err := <-done:
		return err
	case <-time.After(hangLimit):
		r.mu.Lock()
		defer r.mu.Unlock()
		r.unread = true
		return errUnread
	}
}

// offered hands a text over, or drops it if the writer is lossy. Otherwise it does nothing and
// returns false.
func (r *asyncWriter) offered(p []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lossy
	if l == nil {
		return false
	}
	most := l.Most
	if r.dropped > 0 {
		most /= 2 // the reader has caught up when half is read
	}
	if r.waiting+len(p) > most {
		lines := max(bytes.Count(p, []byte("\n")), 1)
		r.dropped += lines
		if l.Dropped != nil {
			l.Dropped(lines)
		}
		return true
	}
	r.note()
	r.put(piece{text: bytes.Clone(p)})
	return true
}

// note hands over the note about dropped lines. The caller holds the lock.
func (r *asyncWriter) note() {
	if r.dropped > 0 {
		r.put(piece{text: r.lossy.Note(r.dropped)})
		r.dropped = 0
	}
}

// put adds a piece to the queue. The caller holds the lock.
func (r *asyncWriter) put(p piece) {
	r.queue = append(r.queue, p)
	r.waiting += len(p.text)
	if !r.running {
		r.running = true
		go r.run()
	}
	r.more.Signal()
}

// run writes the queue until the process ends.
func (r *asyncWriter) run() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		for len(r.queue) == 0 {
			r.more.Wait()
		}
		p := r.queue[0]
		r.queue = r.queue[1:]
		r.mu.Unlock()
		var err error
		if len(p.text) > 0 {
			_, err = r.to.Write(p.text)
		}
		if p.done != nil {
			p.done <- err
		}
		r.mu.Lock()
		if r.waiting -= len(p.text); len(r.queue) == 0 {
			r.note()
		}
	}
}

// behind reports whether a lossy writer has text that nobody has read.
func (r *asyncWriter) behind() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lossy != nil && r.waiting > 0
}

// flush waits until everything is written, but not longer than within.
func (r *asyncWriter) flush(within time.Duration) {
	done := make(chan error, 1)
	r.mu.Lock()
	if r.dropped > 0 {
		r.note()
	}
	r.put(piece{done: done})
	r.mu.Unlock()
	select {
	case <-done:
	case <-time.After(within):
	}
}

// Relayed returns an Output whose readers can't keep the process from ending. A write to a
// reader that hangs fails soon after over is closed.
func (o Output) Relayed(over <-chan struct{}) Output {
	o.async = newAsyncWriter(o.writer(), over)
	return o
}

// Lossy makes writes to a relayed Output return at once. The Output drops text while nobody
// reads, and later writes a note about that. Readers that keep up get everything.
func (o Output) Lossy(l Lossy) {
	if o.async == nil {
		return
	}
	o.async.mu.Lock()
	defer o.async.mu.Unlock()
	o.async.lossy = &l
}

// Flush waits until everything is written, but not longer than within.
func (o Output) Flush(within time.Duration) {
	if o.async != nil {
		o.async.flush(within)
	}
}

// Behind reports whether a lossy Output has text that nobody has read.
func (s Stream) Behind() bool { return s.out.async != nil && s.out.async.behind() }
