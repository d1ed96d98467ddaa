package bounded_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/bounded"
)

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := bounded.ReadFile(path, 5); err != nil || string(b) != "12345" {
		t.Errorf("a file as long as it may be: %q, %v", b, err)
	}
	_, err := bounded.ReadFile(path, 4)
	if size, ok := errors.AsType[*bounded.SizeError](err); !ok || size.Limit != 4 {
		t.Errorf("a file of more bytes: %v", err)
	}
	if _, err := bounded.ReadFile(os.DevNull, 5); !errors.Is(err, bounded.ErrNoFile) {
		t.Errorf("a device: %v", err)
	}
	if _, err := bounded.ReadFile(filepath.Join(dir, "none"), 5); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := bounded.ReadFile(dir, 5); err == nil {
		t.Error("a directory was read")
	}
}

func TestReadAll(t *testing.T) {
	if b, err := bounded.ReadAll(strings.NewReader("123"), 3); err != nil || string(b) != "123" {
		t.Errorf("%q, %v", b, err)
	}
	for limit, want := range map[int64]string{64 << 10: "it has more than 64 KiB", 1 << 20: "it has more than 1 MiB"} {
		if _, err := bounded.ReadAll(endless{}, limit); err == nil || err.Error() != want {
			t.Errorf("what has no end: %v, want %s", err, want)
		}
	}
}

// endless has no end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
