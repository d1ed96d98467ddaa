package helm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	"helm.sh/helm/v4/pkg/ignore"

	"github.com/lynqctl/lynqctl/pkg/bounded"
)

// The limits of a chart, with its subcharts and archives within archives.
const (
	maxFile  = 16 << 20
	maxTotal = 100 << 20
	maxFiles = 10_000
	maxDepth = 32
)

// budget counts what a chart may still have.
type budget struct {
	bytes int64
	files int
}

func newBudget() *budget { return &budget{bytes: maxTotal, files: maxFiles} }

// limitError says which limit a chart passes.
type limitError struct{ what string }

func (e *limitError) Error() string { return e.what }

// take counts one file.
func (b *budget) take(size int64) error {
	b.bytes -= size
	b.files--
	switch {
	case size > maxFile:
		return &limitError{fmt.Sprintf("a file has more than %d MiB", maxFile>>20)}
	case b.bytes < 0:
		return &limitError{fmt.Sprintf("the files have more than %d MiB", maxTotal>>20)}
	case b.files < 0:
		return &limitError{fmt.Sprintf("there are more than %d files", maxFiles)}
	}
	return nil
}

// reader reads files below a directory, and remembers their names.
type reader struct {
	root   *os.Root
	budget *budget
	read   []string
}

// local returns a name in the form that the reader takes. No name leads out of the directory.
func local(name string) (string, error) {
	if name == "" {
		name = "."
	}
	if strings.Contains(name, `\`) || !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", wrong(name, "put the chart and its values into the form's directory, or below it", "the path leads out of the form's directory")
	}
	return path.Clean(name), nil
}

// stat follows links that stay in the directory.
func (r *reader) stat(name string) (fs.FileInfo, error) {
	info, err := r.root.Stat(filepath.FromSlash(name))
	if err != nil {
		return nil, unreadable(name, err)
	}
	return info, nil
}

// file reads one regular file.
func (r *reader) file(name string) ([]byte, error) {
	info, err := r.stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, wrong(name, "put a file there", "it is not a regular file")
	}
	f, err := r.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, unreadable(name, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := bounded.ReadAll(f, maxFile)
	if err == nil {
		err = r.budget.take(int64(len(data)))
	}
	if err != nil {
		return nil, unreadable(name, err)
	}
	r.read = append(r.read, name)
	return data, nil
}

// unreadable returns the problem of a file that can't be read.
func unreadable(name string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	if _, ok := errors.AsType[*limitError](err); ok {
		return wrong(name, "list files that the chart doesn't need in .helmignore", "%v", err)
	}
	if _, ok := errors.AsType[*bounded.SizeError](err); ok {
		return wrong(name, "list files that the chart doesn't need in .helmignore", "%v", err)
	}
	if errors.Is(err, syscall.ELOOP) {
		return wrong(name, "remove the link to a directory above", "links lead in a circle")
	}
	if errors.Is(err, fs.ErrNotExist) {
		return wrong(name, "correct the path", "the file doesn't exist")
	}
	if strings.Contains(err.Error(), "escapes") { // os has no value for this error
		return wrong(name, "replace the link by the file", "a link leads out of the form's directory")
	}
	return wrong(name, "make the file readable", "can't read the file: %v", err)
}

// directory reads the files of a chart that .helmignore doesn't list, named from the chart.
func (r *reader) directory(ctx context.Context, dir string) ([]*archive.BufferedFile, error) {
	rules, err := r.rules(dir)
	if err != nil {
		return nil, err
	}
	var files []*archive.BufferedFile
	var walk func(below string, depth int) error
	walk = func(below string, depth int) error {
		if depth > maxDepth {
			return wrong(path.Join(dir, below), "remove directories, or list them in .helmignore", "the directories are nested more than %d deep", maxDepth)
		}
		entries, err := r.entries(path.Join(dir, below))
		if err != nil {
			return err
		}
		for _, entry := range entries {
			name := path.Join(below, entry)
			info, err := r.stat(path.Join(dir, name))
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil && rules.Ignore(name, missing{}):
				continue
			case err != nil:
				return err
			case rules.Ignore(name, info):
				continue
			case info.IsDir():
				if err := walk(name, depth+1); err != nil {
					return err
				}
				continue
			}
			data, err := r.file(path.Join(dir, name))
			if err != nil {
				return err
			}
			files = append(files, &archive.BufferedFile{Name: name, Data: withoutMark(data)})
		}
		return nil
	}
	return files, walk("", 0)
}

// missing stands for a file that .helmignore may list, and nobody can read.
type missing struct{ fs.FileInfo }

func (missing) IsDir() bool { return false }

// entries lists the names in a directory, sorted.
func (r *reader) entries(dir string) ([]string, error) {
	f, err := r.root.Open(filepath.FromSlash(dir))
	if err != nil {
		return nil, unreadable(dir, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	names, err := f.Readdirnames(maxFiles + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, unreadable(dir, err)
	}
	if len(names) > maxFiles {
		return nil, unreadable(dir, &limitError{fmt.Sprintf("there are more than %d files", maxFiles)})
	}
	slices.Sort(names)
	return names, nil
}

// rules reads the .helmignore of a chart.
func (r *reader) rules(dir string) (*ignore.Rules, error) {
	rules := ignore.Empty()
	name := path.Join(dir, ignore.HelmIgnore)
	if _, err := r.root.Lstat(filepath.FromSlash(name)); err == nil {
		data, err := r.file(name)
		if err != nil {
			return nil, err
		}
		if rules, err = ignore.Parse(bytes.NewReader(data)); err != nil {
			return nil, wrong(name, "correct the pattern", "%v", err)
		}
	}
	rules.AddDefaults()
	return rules, nil
}

// withoutMark removes a byte order mark, as Helm does.
func withoutMark(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) }
