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

// Places are the directories in which a change may affect the inputs, as absolute paths
// without links. They cover directories with manifests, those of single files, and those
// of links that lead there.
type Places map[string]*place

// place says which entries of a directory matter.
type place struct {
	// read is set if lynqctl reads its manifests, and below if it also reads
	// subdirectories.
	read, below bool
	// names are relevant files, links and directories. Some may not exist yet.
	names map[string]bool
}

// maxLinks limits the links on one path.
const maxLinks = 40

// NewPlaces finds the places for the files that Read and Digest read.
func NewPlaces(paths []string, recursive bool) Places {
	ps := Places{}
	ps.Add(paths, recursive)
	return ps
}

// Add adds the places of more paths.
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

// Dirs returns the directories.
func (ps Places) Dirs() []string { return slices.Sorted(maps.Keys(ps)) }

// Matters reports whether a change of an entry may affect the inputs.
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

// at returns the place of a directory, and adds it if needed.
func (ps Places) at(dir string) *place {
	if ps[dir] == nil {
		ps[dir] = &place{names: map[string]bool{}}
	}
	return ps[dir]
}

// trail adds each link on a path, and the last name or the first missing one. A change of
// a ConfigMap replaces such a link in its volume.
func (ps Places) trail(path string) {
	path, err := filepath.Abs(path)
	linked := err == nil
	for i := 0; linked && i < maxLinks; i++ {
		path, linked = ps.follow(path)
	}
}

// follow walks down an absolute path to the first link, and returns the path behind it.
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

// directory adds a directory of manifests, and the targets of its links.
func (ps Places) directory(dir string, recursive bool) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		hidden := d != nil && strings.HasPrefix(d.Name(), ".")
		switch {
		case err != nil:
			return nil //nolint:nilerr // Read reports unreadable paths
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
