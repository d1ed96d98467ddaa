package binaries_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/test/cluster/internal/binaries"
)

var names = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok"}

func TestCacheDir(t *testing.T) {
	one := binaries.CacheDir("/cache", []byte("one"))
	if dir := filepath.Dir(one); dir != filepath.FromSlash("/cache/lynqctl/cluster") {
		t.Errorf("in %s", dir)
	}
	if again := binaries.CacheDir("/cache", []byte("one")); again != one {
		t.Errorf("%s and %s for one go.sum", one, again)
	}
	if two := binaries.CacheDir("/cache", []byte("two")); two == one {
		t.Errorf("%s for two go.sums", one)
	}
}

func TestFind(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	touch(t, first, "etcd")
	touch(t, second, names...)
	set, err := binaries.Find(first, second)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		want := filepath.Join(second, name)
		if name == "etcd" {
			want = filepath.Join(first, name)
		}
		if set[name] != want {
			t.Errorf("%s is at %s, want %s", name, set[name], want)
		}
	}
}

func TestFindNamesWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	touch(t, dir, names[:4]...)
	_, err := binaries.Find(dir)
	var missing *binaries.MissingError
	if !errors.As(err, &missing) || !slices.Equal(missing.Names, []string{"kubectl", "kwok"}) {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(err.Error(), "kubectl, kwok") || !strings.Contains(err.Error(), dir) {
		t.Errorf("the message says too little: %v", err)
	}
}

func TestBuildLeavesWhatIsThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "done")
	touch(t, dir, "etcd")
	// This module doesn't exist, so any use of it would fail.
	if err := binaries.Build(t.Context(), filepath.Join(dir, "no-module"), dir, os.Stderr); err != nil {
		t.Error(err)
	}
}

func TestBuildFailureLeavesNothing(t *testing.T) {
	parent, module := t.TempDir(), t.TempDir()
	var log bytes.Buffer
	err := binaries.Build(t.Context(), module, filepath.Join(parent, "programs"), &log)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || log.Len() == 0 || !strings.Contains(err.Error(), strings.TrimSpace(log.String())) {
		t.Errorf("got %v; the go command said %s", err, log.String())
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}

// touch creates empty files.
func touch(t *testing.T, dir string, files ...string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}
