package tty_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// long is how long a test waits for something that must happen soon.
const long = 30 * time.Second

// streamTo returns a stream without abilities.
func streamTo(o tty.Output) tty.Stream {
	return tty.NewStream(o, func(string) string { return "" }, tty.ColorNever)
}

// pipe returns a real pipe, which hangs when it is full.
func pipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = read.Close(), write.Close() }) // the test has read what it needs
	return read, write
}

// lossy drops lines after that many bytes, and counts them.
func lossy(most int, count *int) tty.Lossy {
	return tty.Lossy{
		Most: most, Dropped: func(lines int) { *count += lines },
		Note: func(lines int) []byte { return fmt.Appendf(nil, "%d lost\n", lines) },
	}
}

// TestRelayUnread writes more than a pipe holds while nobody reads. It wants each write to
// return at once. Then the reader must get the first lines, a note about the lost ones, and
// later lines.
func TestRelayUnread(t *testing.T) {
	read, write := pipe(t)
	out := tty.To(write).Relayed(t.Context().Done())
	dropped := 0
	out.Lossy(lossy(1<<16, &dropped))
	s := streamTo(out)
	const lines = 20_000
	for i := range lines {
		if _, err := fmt.Fprintf(s, "line %d of a log that nobody reads\n", i); err != nil {
			t.Fatal(err)
		}
	}
	if dropped == 0 || dropped >= lines || !s.Behind() {
		t.Fatalf("dropped %d of %d lines, behind: %t", dropped, lines, s.Behind())
	}
	out.Flush(time.Millisecond) // nobody reads, and it returns
	var got bytes.Buffer
	reading := make(chan error, 1)
	go func() {
		_, err := io.Copy(&got, read)
		reading <- err
	}()
	out.Flush(long)
	_, _ = fmt.Fprintln(s, "later")
	out.Flush(long)
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-reading; err != nil {
		t.Fatal(err)
	}
	told, kept := 0, 0
	for line := range strings.Lines(got.String()) {
		lost := 0
		if n, _ := fmt.Sscanf(line, "%d lost", &lost); n == 0 {
			kept++
		}
		told += lost
	}
	if told != dropped || kept != lines-dropped+1 || !strings.HasSuffix(got.String(), " lost\nlater\n") {
		t.Errorf("it kept %d lines and told of %d, and dropped %d of %d", kept, told, dropped, lines)
	}
	if s.Behind() {
		t.Error("it is behind though everything is read")
	}
}

// TestRelayRead wants a reader that keeps up to get everything, in order, from writers that
// wait and from those that don't.
func TestRelayRead(t *testing.T) {
	for _, limit := range []int{0, 8 << 20} {
		var got bytes.Buffer
		out := tty.To(&got).Relayed(t.Context().Done())
		dropped := 0
		if limit > 0 {
			out.Lossy(lossy(limit, &dropped))
		}
		s := streamTo(out)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for i := range 500 {
					_, _ = fmt.Fprintf(s, "line %d\n", i)
				}
			})
		}
		all.Wait()
		big := strings.Repeat("x", 300_000)
		_, _ = io.WriteString(s, big)
		out.Flush(long)
		if text := got.String(); dropped > 0 || strings.Count(text, "\n") != 2000 || !strings.HasSuffix(text, "\n"+big) {
			t.Errorf("limit %d: %d lines, and %d dropped", limit, strings.Count(text, "\n"), dropped)
		}
	}
}

// TestRelayOver wants a write that hangs to fail once the process must end, and all later
// ones at once.
func TestRelayOver(t *testing.T) {
	read, write := pipe(t)
	over := make(chan struct{})
	s := streamTo(tty.To(write).Relayed(over))
	failed := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := io.WriteString(s, strings.Repeat("x", 1<<20))
			failed <- err
		}()
	}
	if _, err := read.Read(make([]byte, 1)); err != nil { // it is writing
		t.Fatal(err)
	}
	close(over)
	for range 2 {
		select {
		case err := <-failed:
			if err == nil {
				t.Error("nobody read it, and it succeeded")
			}
		case <-time.After(long):
			t.Fatal("a write hangs although the process must end")
		}
	}
}

// TestRelayHanded wants other programs to get the file itself.
func TestRelayHanded(t *testing.T) {
	_, write := pipe(t)
	if got := tty.To(write).Relayed(t.Context().Done()).Handed(); got != io.Writer(write) {
		t.Errorf("got %T", got)
	}
}
