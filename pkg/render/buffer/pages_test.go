package buffer

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

// TestPages keeps more than three segments of bytes from several goroutines at once.
func TestPages(t *testing.T) {
	var p Pages
	const texts, size = 600, 100_000
	kept := make([][]byte, texts)
	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			for i := w; i < texts; i += 4 {
				kept[i] = p.Keep(text(i, size))
			}
		})
	}
	group.Wait()
	for i, b := range kept {
		if !bytes.Equal(b, text(i, size)) {
			t.Fatalf("text %d changed", i)
		}
	}
	if pagesWork && len(p.segments) != 4 {
		t.Errorf("%d segments, want 4", len(p.segments))
	}
}

// TestPagesSmall needs no file for few bytes.
func TestPagesSmall(t *testing.T) {
	var p Pages
	b := text(1, pagesInMemory)
	if kept := p.Keep(b); &kept[0] != &b[0] || p.file != nil {
		t.Error("few bytes went to a file")
	}
}

// TestPagesWithoutFile keeps bytes in memory if no directory takes a file.
func TestPagesWithoutFile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	t.Setenv("TMP", t.TempDir()+"/none")
	var p Pages
	for i := range 100 {
		if b := text(i, pagesInMemory/10); !bytes.Equal(p.Keep(b), b) {
			t.Fatalf("text %d changed", i)
		}
	}
	if p.file != nil || pagesWork && !p.failed {
		t.Error("a file was found")
	}
}

// TestPagesFullDisk keeps bytes in memory if the file takes no more, and still has the
// earlier ones.
func TestPagesFullDisk(t *testing.T) {
	var p Pages
	first := p.Keep(text(1, pagesInMemory+1))
	readOnly, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if p.file != nil {
		_ = p.file.Close()
	}
	p.file = readOnly
	if second := p.Keep(text(2, 1000)); !bytes.Equal(second, text(2, 1000)) {
		t.Error("the second text changed")
	}
	if !bytes.Equal(first, text(1, pagesInMemory+1)) {
		t.Error("the first text changed")
	}
}
