package paged

import (
	"bytes"
	"os"
	"sync"
	"testing"
)

// text returns bytes that differ for each i.
func text(i, size int) []byte {
	b := bytes.Repeat([]byte{byte('a' + i%26)}, size)
	b[0], b[size/2], b[size-1] = byte(i), byte(i>>8), byte(i>>16)
	return b
}

// TestStore keeps more than three segments of bytes from several goroutines at once.
func TestStore(t *testing.T) {
	var s Store
	const texts, size = 600, 100_000
	kept := make([][]byte, texts)
	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			for i := w; i < texts; i += 4 {
				kept[i] = s.Keep(text(i, size))
			}
		})
	}
	group.Wait()
	for i, b := range kept {
		if !bytes.Equal(b, text(i, size)) {
			t.Fatalf("text %d changed", i)
		}
	}
	if works && len(s.segments) != 4 {
		t.Errorf("%d segments, want 4", len(s.segments))
	}
}

// TestStoreSmall needs no file for few bytes.
func TestStoreSmall(t *testing.T) {
	var s Store
	b := text(1, inMemory)
	if kept := s.Keep(b); &kept[0] != &b[0] || s.file != nil {
		t.Error("few bytes went to a file")
	}
}

// TestStoreWithoutFile keeps bytes in memory if no directory takes a file.
func TestStoreWithoutFile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	t.Setenv("TMP", t.TempDir()+"/none")
	var s Store
	for i := range 100 {
		if b := text(i, inMemory/10); !bytes.Equal(s.Keep(b), b) {
			t.Fatalf("text %d changed", i)
		}
	}
	if s.file != nil || works && !s.failed {
		t.Error("a file was found")
	}
}

// TestStoreFullDisk keeps bytes in memory if the file takes no more, and still has the
// earlier ones.
func TestStoreFullDisk(t *testing.T) {
	var s Store
	first := s.Keep(text(1, inMemory+1))
	readOnly, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if s.file != nil {
		_ = s.file.Close()
	}
	s.file = readOnly
	if second := s.Keep(text(2, 1000)); !bytes.Equal(second, text(2, 1000)) {
		t.Error("the second text changed")
	}
	if !bytes.Equal(first, text(1, inMemory+1)) {
		t.Error("the first text changed")
	}
}
