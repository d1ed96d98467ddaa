package kustomize

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// These limit what a kustomization reads. A file that several bases name counts each time.
const (
	maxFile = 4 << 20
	maxAll  = 128 << 20
)

// tree has files, by names with slashes. No name and no link leads out of it.
type tree interface {
	// read returns fs.ErrNotExist if there is no such file.
	read(name string) ([]byte, error)
	// kind returns whether a name is a directory, or fs.ErrNotExist.
	kind(name string) (isDir bool, err error)
}

// fileSystem is what the library sees: the files of a tree, under the form's directory. The
// library can't write.
type fileSystem struct {
	dir      string // of the form's file, absolute
	base     string // the kustomization's directory, below dir
	from     tree
	texts    map[string][]byte // that were read
	size     int               // of all that were read
	added    bool              // whether the annotations with origins are ours
	problems []wire.Problem
	absent   []absence // names that the library asked for
}

// absence is a name without a file that lynqctl reads.
type absence struct{ name, why, fix string }

var errOutside = errors.New("is outside the directory of the form's file")

var errReadOnly = errors.New("lynqctl-chart writes no files")

// name returns a path as a name in the tree.
func (f *fileSystem) name(at string) (string, error) {
	if !filepath.IsAbs(at) {
		at = filepath.Join(f.dir, at)
	}
	name, err := filepath.Rel(f.dir, at)
	if err != nil {
		return "", fmt.Errorf("%s: %w", at, errOutside)
	}
	name = filepath.ToSlash(name)
	if !filepath.IsLocal(name) {
		f.absent = append(f.absent, absence{name, errOutside.Error(), "move the form's file into a directory above all bases"})
		return "", fmt.Errorf("%s: %w", name, errOutside)
	}
	return name, nil
}

// ReadFile reads a file, and records its text. It refuses a kustomization that lynqctl
// doesn't build.
func (f *fileSystem) ReadFile(at string) ([]byte, error) {
	name, err := f.name(at)
	if err != nil {
		return nil, err
	}
	text, err := f.from.read(name)
	if err != nil {
		// The library tries several names, and drops the errors.
		if !errors.Is(err, fs.ErrNotExist) {
			f.problems = append(f.problems, wire.Problem{File: name, What: fmt.Sprintf("can't read the file: %v", err)})
		}
		return nil, err
	}
	if f.size += len(text); f.size > maxAll {
		err := fmt.Errorf("the kustomization reads more than %d MiB", maxAll>>20)
		f.problems = []wire.Problem{{File: name, What: err.Error(), Fix: "split it"}}
		return nil, err
	}
	f.texts[name] = text
	if !isKustomization(name) {
		return text, nil
	}
	if found := refused(name, text); len(found) > 0 {
		f.problems = append(f.problems, found...)
		return nil, errors.New(found[0].What)
	}
	if path.Dir(name) == f.base {
		return f.withOrigins(text), nil
	}
	return text, nil
}

func isKustomization(name string) bool {
	for _, known := range konfig.RecognizedKustomizationFileNames() {
		if path.Base(name) == known {
			return true
		}
	}
	return false
}

// CleanedAbs splits a path into its directory and its file.
func (f *fileSystem) CleanedAbs(at string) (filesys.ConfirmedDir, string, error) {
	name, err := f.name(at)
	if err != nil {
		return "", "", err
	}
	isDir, err := f.from.kind(name)
	if errors.Is(err, fs.ErrNotExist) && !isKustomization(name) {
		f.absent = append(f.absent, absence{name, "doesn't exist", "check the name, which begins at the kustomization's directory"})
	}
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", name, err)
	}
	full := filepath.Join(f.dir, filepath.FromSlash(name))
	if isDir {
		return filesys.ConfirmedDir(full), "", nil
	}
	return filesys.ConfirmedDir(filepath.Dir(full)), filepath.Base(full), nil
}

// Exists reports whether there is a file or a directory.
func (f *fileSystem) Exists(at string) bool {
	name, err := f.name(at)
	if err == nil {
		_, err = f.from.kind(name)
	}
	return err == nil
}

// IsDir reports whether there is a directory.
func (f *fileSystem) IsDir(at string) bool {
	name, err := f.name(at)
	if err != nil {
		return false
	}
	isDir, err := f.from.kind(name)
	return err == nil && isDir
}

// The library needs none of these for what lynqctl builds.

// Create writes nothing.
func (f *fileSystem) Create(string) (filesys.File, error) { return nil, errReadOnly }

// Mkdir writes nothing.
func (f *fileSystem) Mkdir(string) error { return errReadOnly }

// MkdirAll writes nothing.
func (f *fileSystem) MkdirAll(string) error { return errReadOnly }

// RemoveAll removes nothing.
func (f *fileSystem) RemoveAll(string) error { return errReadOnly }

// WriteFile writes nothing.
func (f *fileSystem) WriteFile(string, []byte) error { return errReadOnly }

// Open opens nothing.
func (f *fileSystem) Open(string) (filesys.File, error) { return nil, errors.ErrUnsupported }

// ReadDir lists nothing.
func (f *fileSystem) ReadDir(string) ([]string, error) { return nil, errors.ErrUnsupported }

// Glob lists nothing.
func (f *fileSystem) Glob(string) ([]string, error) { return nil, errors.ErrUnsupported }

// Walk lists nothing.
func (f *fileSystem) Walk(string, filepath.WalkFunc) error { return errors.ErrUnsupported }

// disk is a directory.
type disk struct{ root *os.Root }

func openDisk(dir string) (*disk, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &disk{root}, nil
}

func (d *disk) close() { _ = d.root.Close() } // it was only read

func (d *disk) read(name string) ([]byte, error) {
	info, err := d.root.Stat(name)
	switch {
	case err != nil:
		return nil, pathless(err)
	case info.IsDir():
		return nil, fmt.Errorf("it is a directory: %w", fs.ErrNotExist)
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	}
	file, err := d.root.Open(name)
	if err != nil {
		return nil, pathless(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("it has more than %d MiB", maxFile>>20)
	}
	return text, pathless(err)
}

func (d *disk) kind(name string) (bool, error) {
	info, err := d.root.Stat(name)
	if err != nil {
		return false, pathless(err)
	}
	return info.IsDir(), nil
}

// pathless returns an error without the path, which messages have already.
func pathless(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// texts are files in memory.
type texts map[string][]byte

func (t texts) read(name string) ([]byte, error) {
	text, ok := t[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return text, nil
}

func (t texts) kind(name string) (bool, error) {
	if _, ok := t[name]; ok {
		return false, nil
	}
	for other := range t {
		if name == "." || strings.HasPrefix(other, name+"/") {
			return true, nil
		}
	}
	return false, fs.ErrNotExist
}
