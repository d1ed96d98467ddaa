package files

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Places are the directories in which a change may be one of inputs, by absolute paths
// without links: directories that are read, those of files, and those of the links that
// lead there.
type Places map[string]*place

// place is what matters in a directory.
type place struct {
	// read: it is read for manifests; below: and so are its sub-directories.
	read, below bool
	// names are files, links, and directories that are read, or are yet to come.
	names map[string]bool
}

// maxLinks is how many links a path may lead through.
const maxLinks = 40

// NewPlaces finds out where changes may be of what Read and Digest read.
func NewPlaces(paths []string, recursive bool) Places {
	ps := Places{}
	ps.Add(paths, recursive)
	return ps
}

// Add adds those of further paths.
func (ps Places) Add(paths []string, recursive bool) {
	for _, path := range paths {
		if path == StdinPath || path == "" {
			continue
		}
		ps.trail(path)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			ps.directory(canonical(path), recursive)
		}
	}
}

// Dirs are the directories.
func (ps Places) Dirs() []string { return slices.Sorted(maps.Keys(ps)) }

// Matters tells whether a change of an entry of one of the directories may be one of the
// inputs.
func (ps Places) Matters(path string) bool {
	if ps[path] != nil {
		return true
	}
	dir, name := filepath.Split(path)
	p := ps[filepath.Clean(dir)]
	switch {
	case p == nil:
		return false
	case p.names[name]:
		return true
	case !p.read || strings.HasPrefix(name, "."):
		return false
	case isManifest(name):
		return true
	}
	info, err := os.Lstat(path)
	return p.below && (err == nil && info.IsDir() || errors.Is(err, fs.ErrNotExist))
}

// at is what matters in a directory.
func (ps Places) at(dir string) *place {
	if ps[dir] == nil {
		ps[dir] = &place{names: map[string]bool{}}
	}
	return ps[dir]
}

// trail adds what leads to a path: each link, such as the one that is replaced when the
// ConfigMap of a volume changes, and the last of its names, or the first that
// is not there yet.
func (ps Places) trail(path string) {
	path, err := filepath.Abs(path)
	linked := err == nil
	for i := 0; linked && i < maxLinks; i++ {
		path, linked = ps.follow(path)
	}
}

// follow goes down an absolute path until it comes to a link, and gives where that leads.
func (ps Places) follow(path string) (next string, linked bool) {
	dir := filepath.VolumeName(path) + string(filepath.Separator)
	names := strings.Split(strings.TrimPrefix(path, dir), string(filepath.Separator))
	for i, name := range names {
		at := filepath.Join(dir, name)
		info, err := os.Lstat(at)
		link := err == nil && info.Mode()&fs.ModeSymlink != 0
		if link || err != nil || i == len(names)-1 {
			ps.at(dir).names[name] = true
		}
		if err != nil {
			return "", false
		}
		if link {
			target, err := os.Readlink(at)
			if !filepath.IsAbs(target) {
				target = filepath.Join(dir, target)
			}
			return filepath.Join(append([]string{target}, names[i+1:]...)...), err == nil
		}
		dir = at
	}
	return "", false
}

// directory adds a directory that is read, and where its links lead.
func (ps Places) directory(dir string, recursive bool) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		hidden := d != nil && strings.HasPrefix(d.Name(), ".")
		switch {
		case err != nil:
			return nil //nolint:nilerr // Read tells what cannot be read
		case path == dir || d.IsDir() && recursive && !hidden:
			p := ps.at(path)
			p.read, p.below = true, p.below || recursive
		case d.IsDir():
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink != 0 && !hidden && isManifest(d.Name()):
			ps.trail(path)
		}
		return nil
	})
}
