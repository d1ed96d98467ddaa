//go:build unix

package bounded

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestPipeWithoutWriter wants an error, because os.Open would wait for ever. A pipe with a
// writer is read.
func TestPipeWithoutWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(path, time.Millisecond); !errors.Is(err, ErrNoWriter) {
		t.Fatalf("got %v", err)
	}
	go func() {
		if w, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			_, _ = w.WriteString("id\n")
			_ = w.Close()
		}
	}()
	b, err := ReadFile(path, 100)
	if err != nil || string(b) != "id\n" {
		t.Errorf("got %q, %v", b, err)
	}
}
