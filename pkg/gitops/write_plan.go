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

// workFolder holds files until they are whole, so that a run that is killed
// leaves none in pieces, and what it leaves is easy to find. It is gone when no
// run is under way.
const workFolder = ".lynqctl-tmp"

// writers is how many files are written at once: disks bring several to safety
// in the time of one.
const writers = 8

// ErrChanged tells that another run has written to the tree since its index was
// read.
var ErrChanged = errors.New("another run has written to it in the meantime (run again)")

var errLocked = errors.New("another run is writing to it (run again when that run has ended)")

// BusyError tells that another run has the tree. Nothing was written.
type BusyError struct {
	Dir string
	Err error
}

// Error implements error.
func (e *BusyError) Error() string { return e.Dir + ": " + e.Err.Error() }

// Unwrap is ErrChanged where the other run has ended.
func (e *BusyError) Unwrap() error { return e.Err }

// WriteError is a file that could not be written or removed.
type WriteError struct {
	Path string
	Err  error
}

func (e *WriteError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap gives the error of the operating system.
func (e *WriteError) Unwrap() error { return e.Err }

// Changes tells whether carrying a plan out changes the tree, if only its index.
func (d *Dir) Changes(p *Plan) bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.writes() || s.Action == ActionRemove }) ||
		d.index != p.tree()
}

// RootError tells that lynqctl could not make the folder of the tree. Nothing was
// written.
type RootError struct{ Err error }

// Error implements error.
func (e *RootError) Error() string { return fmt.Sprintf("no tree can be there: %v", e.Err) }

// Unwrap gives why.
func (e *RootError) Unwrap() error { return e.Err }

// Write carries a plan out. Where it cannot begin, that is a *RootError or a *BusyError.
//
// First the index is made to name all that may be there by the end; then files are written, those that others name before those
// others; then files go, and the folders that they leave empty; then the index
// is put right. Whenever the run is killed, each file is the old or the new one,
// and the next run goes on from there.
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
	release, err := d.claim()
	if err != nil {
		return err
	}
	defer release()
	w := writer{Dir: d, to: to}
	// What a run that was killed has left.
	if err := to.RemoveAll(workFolder); err != nil {
		return err
	}
	err = w.carryOut(ctx, p)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return errors.Join(err, to.RemoveAll(workFolder))
}

// claim makes sure that no other run writes to the tree until it is released, nor has
// written to it since its index was read.
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

// medium is what a writer writes to. Names are paths below the tree.
type medium interface {
	// WriteFile makes a file that was not there, and returns when it is on the
	// disk.
	WriteFile(name string, content []byte) error
	Rename(from, to string) error
	Remove(name string) error
	RemoveAll(name string) error
	MkdirAll(name string) error
}

// diskFolder is a folder on disk that nothing leads out of.
type diskFolder struct{ root *os.Root }

// The modes of what is made, before the umask. The tree is for others to read:
// Git keeps no more of a mode than whether a file is a program.
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

// writer carries out one plan.
type writer struct {
	*Dir
	to     medium
	number atomic.Int64 // of files in the work folder
	opened sync.Once
}

func (w *writer) carryOut(ctx context.Context, p *Plan) error {
	switch {
	case !p.touches() && w.index == p.tree():
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

// touches tells whether any file but the index may change, or a folder go.
func (p *Plan) touches() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool {
		return s.writes() || s.Action == ActionRemove || s.Action == ActionForget
	})
}

// saveIndex writes the index, unless it is that already.
func (w *writer) saveIndex(x *index.Index) error {
	now, err := w.indexNow()
	if err != nil {
		return err
	}
	if now != w.index {
		return &WriteError{Path: w.fullPath(index.FileName), Err: ErrChanged}
	}
	b := x.Encode()
	next := index.DigestOf(b)
	if now == next {
		return nil
	}
	if err := w.replace(index.FileName, b); err != nil {
		return err
	}
	w.index = next
	return nil
}

// phases are the files to write in their order: objects, then each
// kustomization.yaml after those that it names.
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
	return parallel(ctx, writers, len(steps), func(i int) error { return w.replace(steps[i].Path, steps[i].File.Bytes) })
}

// replace puts a file in the place of what is there, at once. It is whole on the
// disk before it gets its name.
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

// removeAll removes what is wanted no more, and the folders that are empty then.
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
	// Deeper ones come later in the order of their names.
	for _, folder := range slices.Backward(sortedKeys(folders)) {
		_ = w.to.Remove(folder) // it may hold what is not ours
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
