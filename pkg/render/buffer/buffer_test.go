package buffer_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/render/buffer"
)

// TestSpool drops nodes at the start, in the middle, next to each other and at the end. It
// does so in memory and in a file.
func TestSpool(t *testing.T) {
	var nodes [][]byte
	for i := range 40 {
		nodes = append(nodes, bytes.Repeat([]byte{byte('a' + i%26)}, 10_000+i))
	}
	for _, bound := range []int{0, 100_000, 1 << 30} {
		for _, drop := range [][]int{nil, {0}, {39}, {3, 4, 5}, {0, 17, 39}} {
			s := buffer.New(bound)
			for _, n := range nodes {
				if err := s.Add(n); err != nil {
					t.Fatal(err)
				}
			}
			want := bytes.Join(nodes, nil)
			s.Drop(drop...)
			for _, i := range drop {
				want = bytes.Replace(want, nodes[i], nil, 1)
			}
			var got bytes.Buffer
			n, err := s.WriteTo(&got)
			if err != nil || n != int64(len(want)) || !bytes.Equal(got.Bytes(), want) {
				t.Errorf("bound %d, drop %v: %d bytes, want %d; %v", bound, drop, n, len(want), err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestSpoolEmptyNodes drops nodes without bytes next to others.
func TestSpoolEmptyNodes(t *testing.T) {
	for range 100 { // the buffer stores dropped nodes in a map
		s := buffer.New(100_000)
		for _, n := range []string{"a", "", "bb", "", "", "ccc", "d"} {
			if err := s.Add([]byte(n)); err != nil {
				t.Fatal(err)
			}
		}
		s.Drop(1, 2, 3, 4, 5)
		var got strings.Builder
		if _, err := s.WriteTo(&got); err != nil || got.String() != "ad" {
			t.Fatal(got.String(), err)
		}
	}
}

// TestSpoolLeavesNothing checks that no temporary file remains, and that only its owner
// could read it.
func TestSpoolLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s := buffer.New(0)
	if err := s.Add(make([]byte, 3<<20)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// TestSpoolWithoutRoom checks that the error for a failed temporary file has a fix.
func TestSpoolWithoutRoom(t *testing.T) {
	t.Setenv("TMPDIR", "/nonexistent")
	err := buffer.New(0).Add(make([]byte, 3<<20))
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "TMPDIR") {
		t.Error(err)
	}
}

// TestSpoolBrokenPipe checks that WriteTo returns an error of the writer.
func TestSpoolBrokenPipe(t *testing.T) {
	for _, bound := range []int{0, 1 << 30} {
		s := buffer.New(bound)
		if err := s.Add(make([]byte, 3<<20)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.WriteTo(brokenWriter{}); !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
		_ = s.Close() // the test is over
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
