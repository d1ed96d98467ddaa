package gitops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
)

// workFolder has unfinished files, so that a killed run leaves no partial file in the
// tree. It exists only during a run.
const workFolder = ".lynqctl-tmp"

// ErrChanged means that another run has written to the tree since this run read the index.
var ErrChanged = errors.New("another run has written to it in the meantime (run again)")

var errLocked = errors.New("another run is writing to it (run again when that run has ended)")

// BusyError means that another run uses the tree. lynqctl wrote nothing.
type BusyError struct {
	Dir string
	Err error
}

// Error implements error.
func (e *BusyError) Error() string { return e.Dir + ": " + e.Err.Error() }

// Unwrap returns the cause. It is ErrChanged if the other run has ended.
func (e *BusyError) Unwrap() error { return e.Err }

// WriteError means that a file couldn't be written or removed.
type WriteError struct {
	Path string
	Err  error
}

func (e *WriteError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns the error of the operating system.
func (e *WriteError) Unwrap() error { return e.Err }

// Changes reports whether a plan changes the tree, even if only the index.
func (d *Dir) Changes(p *Plan) bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.writes() || s.Action == ActionRemove }) ||
		d.index != p.sealed().File
}

// RootError means that the folder can't have the tree. lynqctl wrote nothing.
type RootError struct{ Err error }

// Error implements error.
func (e *RootError) Error() string { return fmt.Sprintf("no tree can be there: %v", e.Err) }

// Unwrap returns the cause.
func (e *RootError) Unwrap() error { return e.Err }

// Write executes a plan. If it can't start, the error is a *RootError or a *BusyError.
//
// First it writes an index with all old and new files. Then it writes files, and each list
// after the files that it names. Then it removes files and empty folders. Last it writes
// the final index. If the run is killed at any time, each file has its old or new content,
// and the next run continues.
func (d *Dir) Write(ctx context.Context, p *Plan) error {
	if d.root == nil {
		if err := os.MkdirAll(d.name, dirMode); err != nil {
			return &RootError{err}
		}
		root, err := os.OpenRoot(d.name)
		if err != nil {
			return &RootError{err}
		}
		d.root = root
	}
	return d.write(ctx, p, &diskFolder{root: d.root})
}

func (d *Dir) write(ctx context.Context, p *Plan, to medium) error {
	return d.locked(ctx, to, func(w *writer) error { return w.carryOut(ctx, p) })
}

// locked calls do while no other run can write to the tree.
func (d *Dir) locked(ctx context.Context, to medium, do func(*writer) error) error {
	release, err := d.claim()
	if err != nil {
		return err
	}
	defer release()
	if err := d.checkWorkFolder(); err != nil {
		return err
	}
	w := writer{Dir: d, to: to}
	// A killed run may have left this folder.
	if err := to.RemoveAll(workFolder); err != nil {
		return err
	}
	err = do(&w)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return errors.Join(err, to.RemoveAll(workFolder))
}

// checkWorkFolder refuses a work folder with anything that lynqctl didn't write, because
// lynqctl removes that folder.
func (d *Dir) checkWorkFolder() error {
	refuse := func(name, what string) error {
		return &RootError{fmt.Errorf("%s is %s, and only lynqctl's unfinished files may be there (move it away)", d.fullPath(name), what)}
	}
	info, err := d.root.Lstat(workFolder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return refuse(workFolder, kindOf(info.Mode()))
	}
	files, err := fs.ReadDir(d.root.FS(), workFolder)
	for _, f := range files {
		if _, wrong := strconv.ParseUint(f.Name(), 10, 63); wrong != nil || !f.Type().IsRegular() {
			return refuse(workFolder+"/"+f.Name(), kindOf(f.Type()))
		}
	}
	return err
}

// claim locks the tree until release. It fails if another run has written to the tree
// since this run read the index.
func (d *Dir) claim() (release func(), err error) {
	if release, err = lock(d.root); errors.Is(err, errLocked) {
		return nil, &BusyError{d.name, err}
	} else if err != nil {
		return nil, err
	}
	now, err := d.indexNow()
	if err == nil && now != d.index {
		err = &BusyError{d.name, ErrChanged}
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// medium is the file system of a writer. Names are paths below the tree.
type medium interface {
	// WriteFile creates a new file, and returns after the disk has it.
	WriteFile(name string, content []byte) error
	Rename(from, to string) error
	Remove(name string) error
	RemoveAll(name string) error
	MkdirAll(name string) error
}

// diskFolder is a folder on disk. No path leads out of it.
type diskFolder struct{ root *os.Root }

// These are the modes of new files before the umask. Others may read the tree. Git only
// stores whether a file is executable.
const (
	dirMode  = 0o777
	fileMode = 0o666
)

func (f *diskFolder) WriteFile(name string, content []byte) error {
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}

func (f *diskFolder) Rename(from, to string) error { return f.root.Rename(from, to) }
func (f *diskFolder) Remove(name string) error     { return f.root.Remove(name) }
func (f *diskFolder) RemoveAll(name string) error  { return f.root.RemoveAll(name) }
func (f *diskFolder) MkdirAll(name string) error   { return f.root.MkdirAll(name, dirMode) }

// writer executes one plan.
type writer struct {
	*Dir
	to     medium
	number atomic.Int64 // number of files in the work folder
	opened sync.Once
}

func (w *writer) carryOut(ctx context.Context, p *Plan) error {
	switch {
	case !p.touches() && w.index == p.sealed().File:
		return nil
	case !p.touches():
		return w.saveIndex(p.Final())
	}
	if err := w.saveIndex(p.Intent()); err != nil {
		return err
	}
	for _, steps := range phases(p) {
		if err := w.writeAll(ctx, steps); err != nil {
			return err
		}
	}
	if err := w.removeAll(ctx, p); err != nil {
		return err
	}
	return w.saveIndex(p.Final())
}

// touches reports whether the plan may change any file except the index, or remove a
// folder.
func (p *Plan) touches() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool {
		return s.writes() || s.Action == ActionRemove || s.Action == ActionForget
	})
}

// saveIndex writes the index if it has changed.
func (w *writer) saveIndex(x *index.Index) error {
	now, err := w.indexNow()
	if err != nil {
		return err
	}
	if now != w.index {
		return &WriteError{Path: w.fullPath(index.FileName), Err: ErrChanged}
	}
	next := x.Encode()
	if size := int64(len(next)); size > w.most { // the next run couldn't read it
		return &RootError{fmt.Errorf("its index would have %d MiB, the limit is %d MiB (write a tree for each form, or for each part of the table)", size>>20, w.most>>20)}
	}
	digest := index.DigestOf(next)
	if now == digest {
		return nil
	}
	if err := w.replace(index.FileName, next); err != nil {
		return err
	}
	w.index = digest
	return nil
}

// phases returns the files to write in order. Objects come first, and each
// kustomization.yaml follows the ones that it names.
func phases(p *Plan) [][]*Step {
	var objects []*Step
	lists := map[int][]*Step{} // by depth
	deepest := 0
	for i := range p.Steps {
		s := &p.Steps[i]
		switch {
		case !s.writes():
		case path.Base(s.Path) != kustomizationFile:
			objects = append(objects, s)
		default:
			depth := strings.Count(s.Path, "/")
			lists[depth] = append(lists[depth], s)
			deepest = max(deepest, depth)
		}
	}
	all := [][]*Step{objects}
	for depth := deepest; depth >= 0; depth-- {
		all = append(all, lists[depth])
	}
	return all
}

func (w *writer) writeAll(ctx context.Context, steps []*Step) error {
	made := map[string]bool{".": true}
	for _, s := range steps {
		folder := path.Dir(s.Path)
		if made[folder] {
			continue
		}
		made[folder] = true
		if err := w.to.MkdirAll(folder); err != nil {
			return &WriteError{Path: w.fullPath(folder), Err: err}
		}
	}
	return parallel(ctx, w.writers, len(steps), func(i int) error { return w.replace(steps[i].Path, steps[i].File.Bytes) })
}

// replace replaces a file atomically. The disk has the whole content before the file gets
// its name.
func (w *writer) replace(p string, content []byte) error {
	var err error
	w.opened.Do(func() { err = w.to.MkdirAll(workFolder) })
	work := workFolder + "/" + strconv.FormatInt(w.number.Add(1), 10)
	if err == nil {
		err = w.to.WriteFile(work, content)
	}
	if err == nil {
		err = w.to.Rename(work, p)
	}
	if err != nil {
		return &WriteError{Path: w.fullPath(p), Err: err}
	}
	return nil
}

// removeAll removes files that no node needs, and the folders that are then empty.
func (w *writer) removeAll(ctx context.Context, p *Plan) error {
	folders := map[string]bool{}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Action != ActionRemove && s.Action != ActionForget {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.remove(s); err != nil {
			return &WriteError{Path: w.fullPath(s.Path), Err: err}
		}
		for folder := path.Dir(s.Path); folder != "."; folder = path.Dir(folder) {
			folders[folder] = true
		}
	}
	// In name order, subfolders come after their parents.
	for _, folder := range slices.Backward(sortedKeys(folders)) {
		_ = w.to.Remove(folder) // it may have files of others
	}
	return nil
}

func (w *writer) remove(s *Step) error {
	if s.Action == ActionForget {
		return nil
	}
	err := w.to.Remove(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
