package gitops

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/lynqctl/lynqctl/pkg/gitops/index"
)

// Dir is the folder of a tree. Nothing that it does leads out of the folder, not
// by a symbolic link either.
type Dir struct {
	name string
	root *os.Root // nil where the folder is not there yet
	// index is the digest of the file as it was read.
	index index.Digest
}

// OpenDir opens a folder. One that is not there yet is an empty one, and is made
// when something is written.
func OpenDir(name string) (*Dir, error) {
	root, err := os.OpenRoot(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return &Dir{name: name, root: root}, nil
}

// Close closes the folder.
func (d *Dir) Close() error {
	if d.root == nil {
		return nil
	}
	return d.root.Close()
}

// Index reads the index of the tree; a tree without one has an empty one.
func (d *Dir) Index() (*index.Index, error) {
	b, err := d.readIndex()
	if err != nil {
		return nil, err
	}
	d.index = index.DigestOf(b)
	if b == nil {
		return &index.Index{}, nil
	}
	x, err := index.Decode(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path.Join(d.name, index.FileName), err)
	}
	return x, nil
}

// readIndex is the index as it is, nil where there is none.
func (d *Dir) readIndex() ([]byte, error) {
	if there, err := d.hasIndex(); !there {
		return nil, err
	}
	return d.root.ReadFile(index.FileName)
}

// indexNow is the digest of the index as it is now, that of no bytes where there is none.
func (d *Dir) indexNow() (now index.Digest, err error) {
	if there, err := d.hasIndex(); !there {
		return index.DigestOf(nil), err
	}
	f, err := d.root.Open(index.FileName)
	if err != nil {
		return now, err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return index.Digest(h.Sum(nil)), errors.Join(err, f.Close())
}

func (d *Dir) hasIndex() (bool, error) {
	if d.root == nil {
		return false, nil
	}
	info, err := d.root.Lstat(index.FileName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.Mode().IsRegular():
		return false, fmt.Errorf("%s is no regular file: it would be read and written elsewhere (look what it is, and remove it)", path.Join(d.name, index.FileName))
	}
	return true, nil
}

// Plan looks at the tree, and plans how to change it. What others have
// removed that the run leaves as it is, is forgotten: the index of the input is
// without it from then on. A file that cannot be read while another run writes is a
// *BusyError.
func (d *Dir) Plan(ctx context.Context, in *Input, force bool) (*Plan, error) {
	missing, err := d.missing(ctx, Kept(in))
	if err != nil {
		return nil, d.unreadable(err)
	}
	in.Index = in.Index.Without(missing)
	layout := Lay(in)
	if err := errors.Join(layout.Clashes...); err != nil {
		return nil, err
	}
	disk, err := d.look(ctx, layout)
	if err != nil {
		return nil, d.unreadable(err)
	}
	return Compare(in, layout, disk, force), nil
}

// unreadable is why a file could not be read. A run that writes meanwhile removes files
// that this one has just found, so that the other run is the reason to tell.
func (d *Dir) unreadable(err error) error {
	release, claimed := d.claim()
	if _, busy := errors.AsType[*BusyError](claimed); busy {
		return claimed
	}
	if claimed == nil {
		release()
	}
	return err
}

// missing are the paths of entries whose files are not there.
func (d *Dir) missing(ctx context.Context, entries []*index.Entry) (map[string]bool, error) {
	missing := map[string]bool{}
	var mu sync.Mutex
	err := d.inFolders(ctx, len(entries), func(i int) string { return entries[i].Path }, func(f *folder, _ int, name string) error {
		there, _, err := f.look(name)
		if err == nil && !there && f.blocked == "" {
			mu.Lock()
			defer mu.Unlock()
			missing[path.Join(f.path, name)] = true
		}
		return err
	})
	return missing, err
}

// look reads each file of a layout once, and compares it with what it is to be.
func (d *Dir) look(ctx context.Context, l *Layout) (*Disk, error) {
	disk := &Disk{Files: make([]State, len(l.Files)), Gone: make([]State, len(l.Gone))}
	err := d.inFolders(ctx, len(l.Files), func(i int) string { return l.Files[i].Path }, func(f *folder, i int, name string) error {
		return f.state(name, l.Files[i].Bytes, &disk.Files[i])
	})
	if err != nil {
		return nil, err
	}
	err = d.inFolders(ctx, len(l.Gone), func(i int) string { return l.Gone[i].Path }, func(f *folder, i int, name string) error {
		return f.state(name, nil, &disk.Gone[i])
	})
	return disk, err
}

// readers is how many folders are read at once: more than there are processors,
// since disks like to be asked many things.
const readers = 8

// inFolders calls do for each of n paths, several at once, those
// beside each other in one folder one after another.
func (d *Dir) inFolders(ctx context.Context, n int, pathOf func(int) string, do func(f *folder, i int, name string) error) error {
	if d.root == nil {
		return nil
	}
	var starts []int // of pieces: files beside each other in one folder
	last := ""
	for i := range n {
		folder, _ := path.Split(pathOf(i))
		if i == 0 || folder != last || i-starts[len(starts)-1] == piece {
			starts, last = append(starts, i), folder
		}
	}
	starts = append(starts, n)
	buffers := sync.Pool{New: func() any { return new([]byte) }}
	return parallel(ctx, readers, len(starts)-1, func(p int) error {
		f, err := d.open(path.Dir(pathOf(starts[p])))
		if err != nil {
			return err
		}
		defer f.close()
		f.buffer, _ = buffers.Get().(*[]byte)
		defer buffers.Put(f.buffer)
		for i := starts[p]; i < starts[p+1]; i++ {
			if err := do(f, i, path.Base(pathOf(i))); err != nil {
				return err
			}
		}
		return nil
	})
}

// piece is how many files of a folder are read in one go: several read one that
// has very many.
const piece = 256

// parallel calls do for 0 to n-1, so many at a time, until one fails.
func parallel(ctx context.Context, atOnce, n int, do func(int) error) error {
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i := range n {
		g.Go(func() error {
			if within.Err() != nil {
				return context.Cause(within)
			}
			return do(i)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// folder is a folder of the tree that is open.
type folder struct {
	path    string
	root    *os.Root // nil where it is not there, or blocked
	owned   bool     // root is to be closed
	blocked string   // why it is none that can be used
	buffer  *[]byte
}

// open opens a folder below the top. Each part of its path must be a folder in
// fact, not a link to one: else one node's files would be taken for another's.
func (d *Dir) open(p string) (*folder, error) {
	f := &folder{path: p}
	if p == "." {
		f.root = d.root
		return f, nil
	}
	for i, c := range p + "/" {
		if c != '/' {
			continue
		}
		part := p[:i]
		info, err := d.root.Lstat(part)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return f, nil
		case err != nil:
			return nil, err
		case !info.IsDir():
			f.blocked = fmt.Sprintf("%s is %s where a folder is to be", part, kindOf(info.Mode()))
			return f, nil
		}
	}
	root, err := d.root.OpenRoot(p)
	f.root, f.owned = root, true
	return f, err
}

func (f *folder) close() {
	if f.owned && f.root != nil {
		_ = f.root.Close() // nothing was written through it
	}
}

// look tells whether a file is there, and how it is.
func (f *folder) look(name string) (bool, fs.FileInfo, error) {
	if f.root == nil {
		return false, nil, nil
	}
	info, err := f.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil, nil
	}
	return err == nil, info, err
}

// state reads a file and compares it. Want is nil where no content is wanted.
func (f *folder) state(name string, want []byte, s *State) error {
	if f.blocked != "" {
		s.Blocked = f.blocked
		return nil
	}
	there, info, err := f.look(name)
	if !there || err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		s.Blocked = "it is " + kindOf(info.Mode())
		return nil
	}
	content, err := f.read(name, int(info.Size()))
	if err != nil {
		return err
	}
	s.There, s.Digest = true, index.DigestOf(content)
	if s.Same = want != nil && bytes.Equal(content, want); !s.Same {
		s.Content = slices.Clone(content)
	}
	return nil
}

// read reads a file into the folder's buffer.
func (f *folder) read(name string, size int) ([]byte, error) {
	// Without the flag, Go asks and tells the system four times whether to wait
	// for a file; and with it, nothing that is no file any more is waited for.
	file, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	b := bytes.NewBuffer((*f.buffer)[:0])
	b.Grow(size + bytes.MinRead)
	_, err = b.ReadFrom(file)
	*f.buffer = b.Bytes()
	return *f.buffer, err
}

// kindOf is what something is that is no file.
func kindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m.IsDir():
		return "a folder"
	case m.IsRegular():
		return "a file"
	}
	return "something special"
}

// fullPath is how people find a file.
func (d *Dir) fullPath(p string) string { return strings.TrimSuffix(d.name, "/") + "/" + p }
