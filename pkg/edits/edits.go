package edits

import (
	"slices"
	"sync"

	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/form/files"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// Version is a version of a file.
type Version struct {
	// Commit made the version. Its ID is "" for the file as it is now.
	Commit changeset.Commit
	Text   string
}

// Versions returns a file as it is now, and then its versions in commits, from the newest one.
// The commits of two versions in a row are all that changed the file between them. Older
// versions may be missing. It returns none if nobody knows them.
type Versions func(file string) []Version

// Finder finds edits. It is safe for concurrent use.
type Finder struct {
	Versions Versions
	// Prepare changes a form after loading, as the run does. nil means that it doesn't.
	Prepare func(*form.Form)
	// Hide hides secrets in texts.
	Hide func(string) string

	mu    sync.Mutex
	files map[string][]*version
	found map[request]*changeset.Edit
	edits map[request]*changeset.Edit // by the version from which they begin
}

// request asks for an edit of a resource since a record.
type request struct {
	program *render.Program
	id      string
	since   string
}

// version is a Version. The Finder compiles its forms when somebody asks for them.
type version struct {
	Version
	forms    []*form.Form
	loaded   bool
	programs map[*render.Program]*render.Program
}

// Find returns how a resource of a form changed since a record. record names the record, and
// made reports whether a version of the form made it. Find returns nil if nobody knows.
func (f *Finder) Find(p *render.Program, id, record string, made func(*render.Program) bool) *changeset.Edit {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.found == nil {
		f.files, f.found, f.edits = map[string][]*version{}, map[request]*changeset.Edit{}, map[request]*changeset.Edit{}
	}
	key := request{p, id, record}
	e, known := f.found[key]
	if !known {
		e = f.find(p, id, made)
		f.found[key] = e
	}
	return e
}

func (f *Finder) find(p *render.Program, id string, made func(*render.Program) bool) *changeset.Edit {
	r := p.Form.Resource(id)
	if r == nil || r.Pos.File == files.StdinName {
		return nil
	}
	for _, file := range p.Form.FilesOf(r) {
		if e := f.findIn(file, r, p, made); e != nil {
			return e
		}
	}
	return nil
}

// findIn finds the edit of a resource in one of the form's files.
func (f *Finder) findIn(file string, r *form.Resource, p *render.Program, made func(*render.Program) bool) *changeset.Edit {
	id := r.ID
	var states []state
	for _, v := range f.versions(file) {
		program := f.program(v, file, p)
		s := state{commit: v.Commit}
		if program != nil {
			s.digest = program.Template(id)
		}
		if s.digest != "" {
			of := program.Form.Resource(id)
			if of.Pos.File == file {
				s.at, s.lines = linesOf(v.Text, of.Pos.Line, file != p.Form.Pos.File)
			}
			s.secret = hasSecret(of.Manifest)
		}
		if states = append(states, s); s.digest == "" || !made(program) {
			continue
		}
		key := request{p, id, file + " " + v.Commit.ID}
		if f.edits[key] == nil && states[0].digest == p.Template(id) { // else the file changed during the run
			f.edits[key] = f.edit(file, r, p, states)
		}
		return f.edits[key]
	}
	return nil
}

// edit returns the edit from the last of some states of a file to the first.
func (f *Finder) edit(file string, r *form.Resource, p *render.Program, states []state) *changeset.Edit {
	changes := changesOf(states)
	if len(changes) == 0 {
		return nil
	}
	e := &changeset.Edit{Form: p.Form.Name, Resource: r.ID, Place: r.Pos.String()}
	switch file {
	case r.Pos.File:
	case p.Form.Pos.File:
		e.Place = p.Form.Pos.String()
	default:
		e.Place = file
	}
	for _, c := range changes {
		if c.ID == "" {
			e.Uncommitted = true
			continue
		}
		c.Subject = f.Hide(c.Subject)
		e.Commits = append(e.Commits, c)
	}
	diff, more := difference(file, &states[len(states)-1], &states[0])
	e.Diff, e.More = f.Hide(diff), more
	return e
}

func (f *Finder) versions(file string) []*version {
	all, known := f.files[file]
	if known {
		return all
	}
	for _, v := range f.Versions(file) {
		all = append(all, &version{Version: v})
	}
	f.files[file] = all
	return all
}

// program returns the program of a form as a version of one of its files has it, or nil.
func (f *Finder) program(v *version, file string, p *render.Program) *render.Program {
	if v.programs == nil {
		v.programs = map[*render.Program]*render.Program{}
	}
	other, known := v.programs[p]
	if known {
		return other
	}
	if one := v.form(file, p.Form); one != nil {
		if f.Prepare != nil {
			f.Prepare(one)
		}
		other = p.Version(one)
	}
	v.programs[p] = other
	return other
}

// form returns a form as a version of one of its files has it, or nil.
func (v *version) form(file string, now *form.Form) *form.Form {
	if file != now.Pos.File {
		return now.Version(now, file, []byte(v.Text))
	}
	if !v.loaded {
		v.loaded, v.forms = true, form.Versions(file, []byte(v.Text))
	}
	i := slices.IndexFunc(v.forms, func(one *form.Form) bool { return one.Key() == now.Key() })
	if i < 0 {
		return nil
	}
	return now.Version(v.forms[i], file, []byte(v.Text))
}

// hasSecret reports whether a manifest is a Secret, or contains one.
func hasSecret(v *document.Value) bool {
	if v.Field("kind").Literal() == "Secret" {
		return true
	}
	return slices.ContainsFunc(v.Items, hasSecret) || slices.ContainsFunc(v.Fields, func(f document.Field) bool { return hasSecret(f.Value) })
}
