package form

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/form/files"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// ErrConcernUnknown is the error of Good.Around when a bad file may concern any hub.
var ErrConcernUnknown = errors.New("a file with errors may concern any hub")

// Good are inputs without problems, with the text of each of their files.
type Good struct {
	Inputs *Inputs
	texts  map[string][]byte
}

// NewGood keeps inputs that Load read without problems from these paths.
func NewGood(in *Inputs, paths []string, recursive bool) *Good {
	g := &Good{Inputs: in, texts: texts(paths, recursive)}
	g.forgetRows()
	return g
}

// forgetRows drops the files that hubs have rows in: they may be large, and are no inputs.
func (g *Good) forgetRows() {
	for _, h := range g.Inputs.Hubs {
		maps.DeleteFunc(g.texts, func(name string, _ []byte) bool { return filepath.Clean(name) == filepath.Clean(h.Source.Path) })
	}
}

// texts are the texts of all files that Load reads, by name.
func texts(paths []string, recursive bool) map[string][]byte {
	all := map[string][]byte{}
	var unread lynq.Problems
	named := files.Named{Paths: paths, Recursive: recursive, EmptyDirs: true}
	named.Read(&unread, func(name string, data []byte) { all[name] = data })
	return all
}

// Around loads inputs of which the files in bad have errors. Each hub that such a file
// concerns, with its forms, is as the good inputs have it. Every other hub is as the files say
// now. A file concerns the hubs that it has, or had, a document of.
//
// Concerned are the names of the hubs that a bad file concerns. The error is
// ErrConcernUnknown if a file doesn't tell which hubs it concerns, or lynq.Problems if
// further files have errors.
func (g *Good) Around(paths []string, recursive bool, bad map[string]bool) (around *Good, concerned []lynq.HubKey, err error) {
	now, _ := LoadAny(paths, recursive, nil) // its problems are those that bad names
	hubs := map[lynq.HubKey]bool{}
	for file := range bad {
		of := slices.Concat(g.Inputs.hubsIn(file), now.hubsIn(file))
		if len(of) == 0 {
			return nil, nil, ErrConcernUnknown
		}
		for _, hub := range of {
			hubs[hub] = true
		}
	}
	mixed := texts(paths, recursive)
	for file := range bad {
		mixed[file] = g.texts[file]
	}
	in, err := loadTexts(mixed)
	if err != nil {
		return nil, nil, err
	}
	in.keep(g.Inputs, hubs)
	if in.ambiguous() {
		return nil, nil, ErrConcernUnknown
	}
	around = &Good{Inputs: in, texts: mixed}
	around.forgetRows()
	return around, slices.SortedFunc(maps.Keys(hubs), lynq.HubKey.Compare), nil
}

// hubsIn are the hubs that a file has a document of.
func (in *Inputs) hubsIn(file string) []lynq.HubKey {
	var hubs []lynq.HubKey
	for _, h := range in.Hubs {
		if h.Pos.File == file && h.Name != "" {
			hubs = append(hubs, h.Key())
		}
	}
	for _, f := range in.Forms {
		if h := in.Hub(f); f.Pos.File == file && h != nil && h.Name != "" {
			hubs = append(hubs, h.Key())
		}
	}
	return hubs
}

// Key is the hub's name with the namespace that its file gives it, "" for none.
func (h *Hub) Key() lynq.HubKey { return lynq.HubKey{Namespace: h.Namespace, Name: h.Name} }

// Key is the form's name with the namespace that its file gives it, "" for none.
func (f *Form) Key() lynq.FormKey { return lynq.FormKey{Namespace: f.Namespace, Name: f.Name} }

// keep takes hubs, with their forms, from other inputs. All forms of both have a hub.
func (in *Inputs) keep(from *Inputs, hubs map[lynq.HubKey]bool) {
	choose := func(of *Inputs, want bool) (some []*Hub, forms []*Form) {
		for _, h := range of.Hubs {
			if hubs[h.Key()] == want {
				some = append(some, h)
			}
		}
		for _, f := range of.Forms {
			if h := of.Hub(f); hubs[h.Key()] == want {
				forms = append(forms, f)
			}
		}
		return some, forms
	}
	kept, keptForms := choose(from, true)
	others, otherForms := choose(in, false)
	in.Hubs, in.Forms = slices.Concat(others, kept), slices.Concat(otherForms, keptForms)
	in.sort()
}

// ambiguous tells whether a name stands for two hubs or two forms.
func (in *Inputs) ambiguous() bool {
	sameHub := func(a, b *Hub) bool { return a.Name == b.Name && a.Namespace == b.Namespace }
	sameForm := func(a, b *Form) bool { return a.Name == b.Name && a.Namespace == b.Namespace }
	return len(slices.CompactFunc(slices.Clone(in.Hubs), sameHub)) < len(in.Hubs) ||
		len(slices.CompactFunc(slices.Clone(in.Forms), sameForm)) < len(in.Forms)
}

// loadTexts is LoadAny of files with these texts.
func loadTexts(texts map[string][]byte) (*Inputs, error) {
	l := newLoader()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		l.stream(name, texts[name])
	}
	l.finish()
	return l.in, l.problems.Err()
}
