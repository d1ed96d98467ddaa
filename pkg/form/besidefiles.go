package form

import (
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// BesideFile is a file that a hub or a form names.
type BesideFile struct {
	File string // as positions have it
	Path string // from the file of the hub or form, with slashes
	Text string
	at   lynq.Pos // where the hub or form names it
}

// BesideFiles returns the files that hubs and forms name, so that a copy of the inputs works
// elsewhere. The copy has the input files in one directory, and these files below it. The
// error is lynq.Problems, if a file would take the place of another or match a pattern of a
// form that doesn't have it here.
func (in *Inputs) BesideFiles(inputs []InputFile) ([]BesideFile, error) {
	var problems lynq.Problems
	byPath := map[string]BesideFile{}
	add := func(f BesideFile) {
		if other, twice := byPath[f.Path]; twice && other.Text != f.Text {
			problems.Add(f.at, "rename one of them", "a pod would have %s and %s at the same path", f.File, other.File)
			return
		}
		byPath[f.Path] = f
	}
	for _, h := range in.Hubs {
		for _, l := range h.Lookups {
			if !l.File.IsSet() {
				continue
			}
			text, err := readWithin(filepath.Dir(l.File.Pos.File), l.File.Text)
			if err != nil {
				problems.Add(l.File.Pos, "", "read %s: %v", l.Path(), err)
				continue
			}
			add(BesideFile{l.Path(), path.Clean(filepath.ToSlash(l.File.Text)), string(text), l.File.Pos})
		}
	}
	for _, f := range in.Forms {
		f.checkPods(&problems)
		for _, name := range slices.Sorted(maps.Keys(f.texts)) {
			add(BesideFile{f.pathOf(name), name, string(f.texts[name]), f.Files[0].Pos})
		}
	}
	for _, f := range in.Forms {
		f.checkCopy(&problems, byPath, inputs)
	}
	all := make([]BesideFile, 0, len(byPath))
	for _, name := range slices.Sorted(maps.Keys(byPath)) {
		all = append(all, byPath[name])
	}
	return all, problems.Err()
}

// checkCopy reports files that the form's patterns would match only in the copy, because
// their objects would be new resources.
func (f *Form) checkCopy(problems *lynq.Problems, copied map[string]BesideFile, inputs []InputFile) {
	for _, pattern := range f.Files {
		for name, other := range copied {
			matches, _ := path.Match(path.Clean(filepath.ToSlash(pattern.Text)), name) // already checked
			if _, own := f.texts[name]; matches && !own {
				problems.Add(pattern.Pos, "put the files into directories with distinct names", "%s: in a pod, pattern %s would match %s, too", subjectOf("form", f.Name), pattern.Text, other.File)
			}
		}
		for _, input := range inputs {
			name := path.Base(filepath.ToSlash(input.Name))
			matches, _ := path.Match(path.Clean(filepath.ToSlash(pattern.Text)), name)
			if _, own := f.texts[name]; matches && !own {
				problems.Add(pattern.Pos, "put the files into a directory of their own", "%s: in a pod, pattern %s would match %s, too", subjectOf("form", f.Name), pattern.Text, input.Name)
			}
		}
	}
}
