package form_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

var update = flag.Bool("update", false, "write what the tests got to testdata")

// TestLoad loads the inputs of each archive in testdata, and compares problems and
// warnings word by word. A line "load: ..." in the archive's comment has the paths, and
// -R. Without it, the test loads the directory "in". The file "stdin" is standard input.
func TestLoad(t *testing.T) {
	archives, err := filepath.Glob("testdata/load/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives in testdata/load: %v", err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			path, err := filepath.Abs(path)
			if err != nil {
				t.Fatal(err)
			}
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			paths, recursive, stdin := unpack(t, archive)
			in, err := form.Load(paths, recursive, strings.NewReader(stdin))
			if in == nil {
				t.Fatal("no Inputs")
			}
			expect(t, archive, "problems", messages(t, err))
			expect(t, archive, "warnings", in.Warnings)
			if *update {
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// unpack writes the archive to an empty working directory.
func unpack(t *testing.T, archive *txtar.Archive) (paths []string, recursive bool, stdin string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := txtar.Write(archive, "."); err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if f.Name == "stdin" {
			stdin = string(f.Data)
		}
	}
	for line := range strings.Lines(string(archive.Comment)) {
		if args, ok := strings.CutPrefix(line, "load:"); ok {
			paths = strings.Fields(args)
		}
	}
	if paths == nil {
		return []string{"in"}, false, stdin
	}
	all := len(paths)
	paths = slices.DeleteFunc(paths, func(s string) bool { return s == "-R" })
	return paths, len(paths) < all, stdin
}

func messages(t *testing.T, err error) lynq.Problems {
	t.Helper()
	var problems lynq.Problems
	if err != nil && !errors.As(err, &problems) {
		t.Fatalf("an error that is no lynq.Problems: %v", err)
	}
	return problems
}

// expect compares messages with a file of the archive.
func expect(t *testing.T, archive *txtar.Archive, name string, got lynq.Problems) {
	t.Helper()
	text := ""
	if len(got) > 0 {
		text = got.Error() + "\n"
	}
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == name })
	switch {
	case *update && i >= 0:
		archive.Files[i].Data = []byte(text)
	case *update && text != "":
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(text)})
	case *update:
	case i < 0:
		if text != "" {
			t.Errorf("unexpected %s:\n%s", name, text)
		}
	default:
		if diff := cmp.Diff(string(archive.Files[i].Data), text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
