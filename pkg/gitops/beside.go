package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/lynqctl/lynqctl/pkg/bounded"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Somebody may remove the index and a kustomization.yaml, for example because both have
// conflicts of a merge. The run would list the present nodes alone. No guard would count the
// other nodes, although the folder still has their files.

// besideGone returns what lynqctl wrote beside each list that the run writes and that doesn't
// exist, as far as neither the index nor the layout has it. Of each folder, one is enough.
func (d *Dir) besideGone(ctx context.Context, in *Input, l *Layout, disk *Disk) (map[string]string, error) {
	var lists []string
	for i := range l.Files {
		if s := &disk.Files[i]; path.Base(l.Files[i].Path) == kustomizationFile && !s.There && s.Blocked == "" && !isApp(l.Files[i].Path) {
			lists = append(lists, l.Files[i].Path)
		}
	}
	known := sync.OnceValue(func() *listings { return listingsOf(in.Index, l.Files) })
	found := map[string]string{}
	var mu sync.Mutex
	return found, d.inFolders(ctx, len(lists), func(i int) string { return lists[i] }, func(f *folder, i int, _ string) error {
		if f.root == nil {
			return nil
		}
		entries, err := fs.ReadDir(f.root.FS(), ".")
		for k := 0; k < len(entries) && err == nil; k++ {
			p := path.Join(f.path, entries[k].Name())
			if strings.HasPrefix(p, ".") || isApp(p) || p == AppsFolder || p == index.FileName || known().has(p) {
				continue
			}
			var wrote bool
			if wrote, err = d.wrote(p, 2); wrote {
				mu.Lock()
				defer mu.Unlock()
				found[lists[i]] = entries[k].Name()
				return nil
			}
		}
		return d.told(lists[i], err)
	})
}

// wrote reports whether lynqctl wrote a file, or one in a folder or so many folders below. A
// folder with an index is a tree of its own.
func (d *Dir) wrote(p string, depth int) (bool, error) {
	info, err := d.root.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case info.Mode().IsRegular() && path.Ext(p) == ".yaml":
		return d.wroteFile(p)
	case !info.IsDir() || depth == 0:
		return false, nil
	}
	if _, err := d.root.Lstat(path.Join(p, index.FileName)); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	entries, err := fs.ReadDir(d.root.FS(), p)
	for i := 0; i < len(entries) && err == nil; i++ {
		var wrote bool
		if wrote, err = d.wrote(path.Join(p, entries[i].Name()), depth-1); wrote {
			return true, nil
		}
	}
	return false, err
}

// wroteFile reports whether a file has the head of a list, or the label of an object with a hub.
func (d *Dir) wroteFile(p string) (bool, error) {
	f, err := d.root.Open(p)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	content, err := bounded.ReadAll(f, maxFile)
	if _, large := errors.AsType[*bounded.SizeError](err); large {
		return false, nil // lynqctl writes no such file
	}
	head, _, _ := strings.Cut(kustomizationHead, "\n")
	return bytes.HasPrefix(content, []byte(head)) || bytes.Contains(content, []byte(wellknown.LabelHub+":")), err
}

// keepBeside refuses to write a list anew without what lynqctl wrote beside it.
func (s *Step) keepBeside(gone map[string]string, force bool) {
	name := gone[s.Path]
	if name == "" || force || !s.writes() {
		return
	}
	s.Action, s.lost = ActionRefuse, fmt.Sprintf("it doesn't exist, and %s doesn't have %s beside it, so no guard would count what is deleted", index.FileName, name)
	s.Why = s.lost
}
