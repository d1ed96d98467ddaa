package form

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/form/files"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// ErrConcernUnknown means that a file with errors may concern any hub.
var ErrConcernUnknown = errors.New("a file with errors may concern any hub")

// Good are inputs without problems, with the text of each file.
type Good struct {
	Inputs *Inputs
	texts  map[string][]byte
}

// NewGood keeps inputs that Load read from these paths without problems.
func NewGood(in *Inputs, paths []string, recursive bool) *Good {
	g := &Good{Inputs: in, texts: texts(paths, recursive)}
	g.forgetRows()
	return g
}

// forgetRows drops the files that hubs read rows from. They may be large, and aren't
// inputs.
func (g *Good) forgetRows() {
	for _, h := range g.Inputs.Hubs {
		maps.DeleteFunc(g.texts, func(name string, _ []byte) bool { return filepath.Clean(name) == filepath.Clean(h.Source.Path) })
	}
}

// texts returns the text of each file that Load reads, by name.
func texts(paths []string, recursive bool) map[string][]byte {
	all := map[string][]byte{}
	var unread lynq.Problems
	named := files.Named{Paths: paths, Recursive: recursive, EmptyDirs: true}
	named.Read(&unread, func(name string, data []byte) { all[name] = data })
	return all
}

// Around loads inputs even though the files in bad have errors. A bad file concerns each
// hub of which it has, or had, a document. Around takes these hubs and their forms from
// the good inputs, and all others from the files, with builder.
//
// concerned are the hubs that a bad file concerns. The error is ErrConcernUnknown if a
// file doesn't show which hubs it concerns. It is lynq.Problems if further files have
// errors.
func (g *Good) Around(builder Builder, paths []string, recursive bool, bad map[string]bool) (around *Good, concerned []lynq.HubKey, err error) {
	now, _ := load(nil, builder, paths, recursive, nil, needNothing) // bad has its problems already
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
	g.Inputs.withoutFiles(mixed)
	in, err := loadTexts(mixed, hubs, builder)
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

// withoutFiles drops the texts of the files that forms name. These files aren't inputs, except
// those with hubs or forms.
func (in *Inputs) withoutFiles(texts map[string][]byte) {
	maps.DeleteFunc(texts, func(name string, _ []byte) bool {
		input := slices.ContainsFunc(in.Hubs, func(h *Hub) bool { return h.Pos.File == name }) ||
			slices.ContainsFunc(in.Forms, func(f *Form) bool { return f.Pos.File == name })
		return !input && slices.ContainsFunc(in.Forms, func(f *Form) bool { return f.reads(filepath.Clean(name)) })
	})
}

// hubsIn returns the hubs of which a file has a document, or that name the file.
func (in *Inputs) hubsIn(file string) []lynq.HubKey {
	var hubs []lynq.HubKey
	for _, h := range in.Hubs {
		named := slices.ContainsFunc(h.Lookups, func(l *Lookup) bool { return l.Path() == file })
		if (h.Pos.File == file || named) && h.Name != "" {
			hubs = append(hubs, h.Key())
		}
	}
	for _, f := range in.Forms {
		if h := in.Hub(f); (f.Pos.File == file || f.reads(file)) && h != nil && h.Name != "" {
			hubs = append(hubs, h.Key())
		}
	}
	return hubs
}

// Key returns the hub's name, with its namespace if the file sets one.
func (h *Hub) Key() lynq.HubKey { return lynq.HubKey{Namespace: h.Namespace, Name: h.Name} }

// Key returns the form's name, with its namespace if the file sets one.
func (f *Form) Key() lynq.FormKey { return lynq.FormKey{Namespace: f.Namespace, Name: f.Name} }

// keep copies hubs and their forms from other inputs. Each form in both inputs has a hub.
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

// ambiguous reports whether two hubs or two forms share a name.
func (in *Inputs) ambiguous() bool {
	sameHub := func(a, b *Hub) bool { return a.Name == b.Name && a.Namespace == b.Namespace }
	sameForm := func(a, b *Form) bool { return a.Name == b.Name && a.Namespace == b.Namespace }
	return len(slices.CompactFunc(slices.Clone(in.Hubs), sameHub)) < len(in.Hubs) ||
		len(slices.CompactFunc(slices.Clone(in.Forms), sameForm)) < len(in.Forms)
}

// Versions returns the forms in a version of a file. It knows no other file, so it doesn't check
// how documents relate. It returns none if the version has other errors.
func Versions(file string, data []byte) []*Form {
	l := newLoader(nil)
	l.stream(file, data)
	if len(l.problems) > 0 {
		return nil
	}
	return l.in.Forms
}

// loadTexts is LoadAny for files with these texts. It doesn't read the files that kept hubs
// and their forms name.
func loadTexts(texts map[string][]byte, kept map[lynq.HubKey]bool, builder Builder) (*Inputs, error) {
	l := newLoader(nil)
	l.kept, l.in.builder = kept, builder
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		l.stream(name, texts[name])
	}
	l.finish()
	return l.in, l.err()
}
