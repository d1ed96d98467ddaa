//go:build unix

package source_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"

	"github.com/google/go-cmp/cmp"
)

func TestFileFromPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.csv")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(pipe, []byte("id\nb\na\n"), 0) }()
	rows, err := read(t, endpoint.Connection{Type: endpoint.SourceCSV, Path: pipe}, "id")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]row{{3, []string{"a"}}, {2, []string{"b"}}}, rows); diff != "" {
		t.Error(diff)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}
