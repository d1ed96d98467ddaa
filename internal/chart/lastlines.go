package chart

import (
	"strings"
	"sync"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// These limit what lastLines keeps and shows.
const (
	maxKept  = 4 << 10
	maxShown = 5
)

// lastLines keeps the first and the last part of what a program writes to standard error. A
// program of Go that fails writes why first, and other programs write it last.
type lastLines struct {
	mu          sync.Mutex
	first, last []byte
}

// Write implements io.Writer.
func (l *lastLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(b)
	room := min(n, maxKept-len(l.first))
	l.first = append(l.first, b[:room]...)
	l.last = append(l.last, b[room:]...)
	l.last = l.last[max(0, len(l.last)-maxKept):]
	return n, nil
}

// String returns the lines as the end of a sentence.
func (l *lastLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(string(l.first)) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return ": " + phrase.OneLine(strings.TrimSpace(line))
		}
	}
	lines := strings.Split(strings.TrimSpace(string(l.first)+string(l.last)), "\n")
	lines = lines[max(0, len(lines)-maxShown):]
	if text := strings.Join(lines, "; "); text != "" {
		return ": " + phrase.OneLine(text)
	}
	return ""
}
