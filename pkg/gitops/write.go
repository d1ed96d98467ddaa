package gitops

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/lynqctl/lynqctl/pkg/bounded"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// These limit the bytes of files to read. maxIndex is enough for three million files. maxFile
// is enough for the list of a million nodes, and no API server takes objects of this size.
const (
	maxIndex = 1 << 30
	maxFile  = 64 << 20
)

// Dir is the folder of a tree. It never leaves the folder, not even through a symbolic
// link.
type Dir struct {
	name string
	root *os.Root // nil if the folder doesn't exist yet
	// index is the digest of the index file that it read.
	index index.Digest
	most  int64 // the largest index, in bytes
	// writers is the number of files to write in parallel, because a disk can sync several in
	// the time of one.
	writers int
}

// OpenDir opens a folder. A missing folder counts as empty, and Write creates it.
func OpenDir(name string) (*Dir, error) {
	root, err := os.OpenRoot(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return &Dir{name: name, root: root, most: maxIndex, writers: 8}, nil
}

// Close closes the folder.
func (d *Dir) Close() error {
	if d.root == nil {
		return nil
	}
	return d.root.Close()
}

// Index reads the tree's index, or returns an empty one.
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

// Existing reads the tree's index like Index. A folder without one isn't a tree.
func (d *Dir) Existing() (*index.Index, error) {
	switch there, err := d.hasIndex(); {
	case err != nil:
		return nil, err
	case d.root == nil:
		return nil, fmt.Errorf("%s doesn't exist (check the path)", d.name)
	case !there:
		return nil, fmt.Errorf("%s isn't a tree, because it has no %s (check the path, or run render first)", d.name, index.FileName)
	}
	return d.Index()
}

// readIndex returns the bytes of the index, or nil.
func (d *Dir) readIndex() ([]byte, error) {
	if there, err := d.hasIndex(); !there {
		return nil, err
	}
	f, err := d.root.Open(index.FileName)
	if err != nil {
		return nil, d.told(index.FileName, err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	b, err := bounded.ReadAll(f, d.most)
	return b, d.told(index.FileName, err)
}

// told names a file that can't be read. The error of a folder below the tree has only the
// last part of the path.
func (d *Dir) told(p string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return fmt.Errorf("read %s: %w", d.fullPath(p), err)
}

// indexNow returns the digest of the current index. Without an index, it is the digest of
// no bytes.
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

// Plan reads the tree, and plans its changes. It removes entries from the input's index if
// the run keeps them and somebody removed their files. If a file can't be read while
// another run writes, the error is a *BusyError.
func (d *Dir) Plan(ctx context.Context, in *Input, force bool) (*Plan, error) {
	if in.decided == nil {
		if err := d.Decide(ctx, in); err != nil {
			return nil, err
		}
	}
	layout := Lay(in)
	if err := errors.Join(layout.Clashes...); err != nil {
		return nil, err
	}
	disk, err := d.look(ctx, layout, in.decided.read)
	if err != nil {
		return nil, d.unreadable(err)
	}
	disk.Missing = in.decided.missing
	if disk.Beside, err = d.beside(ctx, in, layout, disk); err != nil {
		return nil, d.unreadable(err)
	}
	if disk.BesideGone, err = d.besideGone(ctx, in, layout, disk); err != nil {
		return nil, d.unreadable(err)
	}
	p := Compare(in, layout, disk, force)
	return p, d.readListed(ctx, in, p)
}

// unreadable explains why a file couldn't be read. If another run writes meanwhile, it may
// have removed the file, so the error names that run.
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

// missing returns the paths of entries without a file.
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

// look reads each file of a layout once, and compares it with the desired content. read has
// files that the decisions needed.
func (d *Dir) look(ctx context.Context, l *Layout, read map[string]State) (*Disk, error) {
	disk := &Disk{Files: make([]State, len(l.Files)), Gone: make([]State, len(l.Gone))}
	err := d.inFolders(ctx, len(l.Files), func(i int) string { return l.Files[i].Path }, func(f *folder, i int, name string) error {
		return d.told(l.Files[i].Path, f.state(name, l.Files[i].Bytes, &disk.Files[i]))
	})
	if err != nil {
		return nil, err
	}
	var unread []int
	for i, e := range l.Gone {
		if s, known := read[e.Path]; known {
			disk.Gone[i] = s
		} else {
			unread = append(unread, i)
		}
	}
	err = d.inFolders(ctx, len(unread), func(i int) string { return l.Gone[unread[i]].Path }, func(f *folder, i int, name string) error {
		return d.told(l.Gone[unread[i]].Path, f.state(name, nil, &disk.Gone[unread[i]]))
	})
	return disk, err
}

// beside returns Disk.Beside.
func (d *Dir) beside(ctx context.Context, in *Input, l *Layout, disk *Disk) (map[string]bool, error) {
	all := map[string]bool{}
	var unknown []*index.Entry
	add := func(list string, s *State) {
		if path.Base(list) != kustomizationFile || s.Content == nil {
			return
		}
		names, _ := listedIn(s.Content)
		for _, name := range names {
			if file := path.Join(path.Dir(list), name); !in.Index.Has(file) && fs.ValidPath(file) && !all[file] {
				all[file], unknown = true, append(unknown, &index.Entry{Path: file, Owned: index.Owned{Owner: new(index.Owner)}})
			}
		}
	}
	for i := range disk.Files {
		add(l.Files[i].Path, &disk.Files[i])
	}
	for i := range disk.Gone {
		add(l.Gone[i].Path, &disk.Gone[i])
	}
	missing, err := d.missing(ctx, unknown)
	if err != nil {
		return nil, err
	}
	for file := range missing {
		delete(all, file)
	}
	return all, d.moved(ctx, in, all)
}

// moved takes files out of a set that have only objects of the index. Git moved these files,
// because it took one node for another one under a new name, and guards count the objects.
func (d *Dir) moved(ctx context.Context, in *Input, files map[string]bool) error {
	known := map[lynq.Ref]bool{}
	in.know(known)
	all := slices.Sorted(maps.Keys(files))
	var mu sync.Mutex
	return d.inFolders(ctx, len(all), func(i int) string { return all[i] }, func(f *folder, i int, name string) error {
		var s State
		if err := f.state(name, nil, &s); err != nil {
			return d.told(all[i], err)
		}
		has, readable := objectsOfFile(s.Content)
		if readable && len(has) > 0 && !slices.ContainsFunc(has, func(k index.ObjectKey) bool { return !known[k.Ref] }) {
			mu.Lock()
			defer mu.Unlock()
			delete(files, all[i])
		}
		return nil
	})
}

// readers is the number of folders to read in parallel. It exceeds the number of
// processors, because disks work better with many requests.
const readers = 8

// inFolders calls do for each of n paths. Neighbors in a folder run one after the other,
// and groups of them run in parallel.
func (d *Dir) inFolders(ctx context.Context, n int, pathOf func(int) string, do func(f *folder, i int, name string) error) error {
	if d.root == nil {
		return nil
	}
	var starts []int // starts of groups of neighbors
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

// piece limits a group, so that several goroutines share a folder with very many files.
const piece = 256

// parallel calls do for 0 to n-1, at most atOnce at a time, until one fails.
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

// folder is an open folder of the tree.
type folder struct {
	path    string
	root    *os.Root // nil if it doesn't exist or is blocked
	owned   bool     // root needs to be closed
	blocked string   // why it can't be used
	buffer  *[]byte
}

// open opens a folder below the top. Each part of the path must be a real folder, not a
// link. A link could lead to another node's files.
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
			f.blocked = fmt.Sprintf("%s is %s, and the tree needs a folder there", part, kindOf(info.Mode()))
			return f, nil
		}
	}
	root, err := d.root.OpenRoot(p)
	f.root, f.owned = root, true
	return f, err
}

func (f *folder) close() {
	if f.owned && f.root != nil {
		_ = f.root.Close() // nothing was written
	}
}

// look reports whether a file exists, with its info.
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

// state reads a file and compares it with want, which is nil if no node needs the file.
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
	limit := max(maxFile, int64(len(want)))
	if info.Size() > limit {
		s.Blocked = (&bounded.SizeError{Limit: limit}).Error()
		return nil
	}
	content, err := f.read(name, int(info.Size()), limit)
	if size, ok := errors.AsType[*bounded.SizeError](err); ok {
		s.Blocked = size.Error()
		return nil
	}
	if err != nil {
		return err
	}
	s.There, s.Digest = true, index.DigestOf(content)
	if s.Same = want != nil && bytes.Equal(content, want); !s.Same {
		s.Content = slices.Clone(content)
	}
	return nil
}

// read reads a file into the folder's buffer. It returns a *bounded.SizeError if the file
// has grown to more than limit bytes.
func (f *folder) read(name string, size int, limit int64) ([]byte, error) {
	// Without O_NONBLOCK, Go makes four system calls to set up waiting. With it, nothing
	// waits if the file has become something else.
	file, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	b := bytes.NewBuffer((*f.buffer)[:0])
	b.Grow(size + bytes.MinRead)
	_, err = b.ReadFrom(io.LimitReader(file, limit+1))
	*f.buffer = b.Bytes()
	if err == nil && int64(b.Len()) > limit {
		err = &bounded.SizeError{Limit: limit}
	}
	return *f.buffer, err
}

// kindOf names something that isn't a file.
func kindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m.IsDir():
		return "a folder"
	case m.IsRegular():
		return "a file"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	}
	return "a device or a socket"
}

// fullPath returns a file's path for people.
func (d *Dir) fullPath(p string) string { return strings.TrimSuffix(d.name, "/") + "/" + p }
