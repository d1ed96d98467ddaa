package gitops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/diff"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// Why says why a field or an object changes, in the words of package diff.
type Why struct {
	Cause diff.CauseKind `json:"cause,omitempty"`
	// Columns are the columns of the row that changed.
	Columns []string `json:"columns,omitempty"`
	// Form is the place in the form, as FILE:LINE. It is "" if the form isn't a cause.
	Form string `json:"form,omitempty"`
	// Commits are those that changed the form since, the newest first. It is empty if nobody
	// knows. Report.Forms shows what they changed.
	Commits []string `json:"commits,omitempty"`
	// Edit has these commits. It is nil if nobody knows.
	Edit *changeset.Edit `json:"-"`
}

// text returns the cause without its place.
func (w *Why) text() string {
	if w.Cause == "" {
		return ""
	}
	return diff.Cause{Kind: w.Cause, Columns: w.Columns}.Shared()
}

// String returns the cause with its place: form at web.yaml:12 or row (column plan).
func (w *Why) String() string {
	return changeset.AtPlaces(1, w.Edit.String(), func(int) (cause, place string) { return w.text(), w.Form })[0]
}

// origins has what a tree records of a node's files, and what the run has instead.
type origins struct {
	// before are the templates of the form from which the files may come. It is nil if the
	// tree doesn't record them.
	before []*index.Template
	// newVersion is set if another version of lynqctl rendered the files, and sameVersion if
	// this one did.
	newVersion, sameVersion bool
	// rowBefore and row are the records of the row. They are "" if unknown.
	rowBefore, row string
}

// explainer finds the causes of changes in the nodes of a form.
type explainer struct {
	*origins
	program *render.Program // nil if the run doesn't have the form
	edits   EditOf
	changed map[string]bool // see render.Program.Changed
	// state is equal for nodes whose equal changes have equal causes. causes has the causes
	// of all states, resources and fields so far.
	state  string
	causes map[string]Why
}

// states returns what causes depend on, beside the form.
func (x *explainer) states() string {
	var b strings.Builder
	for _, t := range x.before {
		b.WriteString(t.Digest + " ")
	}
	columns := make([]string, 0, len(x.changed))
	for c := range x.changed {
		columns = append(columns, c)
	}
	slices.Sort(columns)
	for _, c := range columns {
		fmt.Fprintf(&b, "%s %v\n", c, x.changed[c])
	}
	return b.String()
}

// resource returns a resource of the form, or nil.
func (x *explainer) resource(id string) *form.Resource {
	if x.program == nil {
		return nil
	}
	return x.program.Form.Resource(id)
}

// cause returns the cause of a changed field, or of a whole object without a path. kept is set
// if the object keeps the field.
func (x *explainer) cause(id string, path []segment, kept bool) Why {
	key := fmt.Sprintf("%s\n%s\n%v %s", x.state, id, kept, fieldName(path))
	why, known := x.causes[key]
	if !known {
		why = x.find(id, path, kept)
		x.causes[key] = why
	}
	return why
}

// find finds a cause. What certainly changed are the causes. Without it, all is possible that
// may have changed.
func (x *explainer) find(id string, path []segment, kept bool) Why {
	r := x.resource(id)
	if r == nil || len(x.before) == 0 {
		return Why{Cause: diff.CauseUnknown}
	}
	at, keys := make(diff.Path, len(path)), make([]string, len(path))
	for i, s := range path {
		at[i], keys[i] = diff.Element{Field: s.key, Entry: s.list, Index: s.index}, s.String()
	}
	sameForm := 0
	for _, t := range x.before {
		if x.program.SameAt(string(t.Parts), id, keys) {
			sameForm++
		}
	}
	place := func(p diff.Path) lynq.Pos { return diff.PlaceOf(r, p) }
	edit := func() *changeset.Edit {
		if x.edits == nil || len(x.before) != 1 { // files of several templates changed since several commits
			return nil
		}
		return x.edits(x.program, id, x.before[0])
	}
	all := x.program.Fields(id)
	certain := diff.Origin{SameForm: sameForm > 0, SameVersion: !x.newVersion, Place: place, Edit: edit, Sources: x.sources(all, true)}
	c := certain.OfFile(at, kept)
	if c.Kind == diff.CauseUnknown {
		possible := diff.Origin{SameForm: sameForm == len(x.before), SameVersion: x.sameVersion, Place: place, Edit: edit, Sources: x.sources(all, false), Unchanged: x.unchanged()}
		if c = possible.OfFile(at, kept); len(c.Columns) > 1 {
			c.Columns = nil // nobody knows which one
		}
	}
	return Why{c.Kind, c.Columns, c.Form.String(), c.Edit.IDs(), c.Edit}
}

// sources returns the fields of a resource that the row feeds. With changed, it returns only
// the columns that certainly changed.
func (x *explainer) sources(all []render.FieldColumns, changed bool) []diff.Source {
	sources := []diff.Source{}
	for _, f := range all {
		var columns []string
		for _, c := range f.Columns {
			if !changed || x.changed[c] {
				columns = append(columns, c)
			}
		}
		if len(columns) > 0 {
			sources = append(sources, diff.Source{Path: f.Path, Columns: columns})
		}
	}
	return sources
}

// unchanged returns the columns and lookups that certainly didn't change.
func (x *explainer) unchanged() []string {
	var columns []string
	for c, changed := range x.changed {
		if !changed {
			columns = append(columns, c)
		}
	}
	return columns
}

// recorded has what an index records of a node.
type recorded struct {
	owner *index.Owner // nil for a new node
	mixed bool         // the files record several rows
}

// add adds the owner of a file.
func (r *recorded) add(o *index.Owner) {
	if r.owner == nil {
		r.owner = o
	}
	r.mixed = r.mixed || o.Row != r.owner.Row
}

// row returns the row of all files, or "" if nobody knows it.
func (r *recorded) row() string {
	if r.owner == nil || r.mixed {
		return ""
	}
	return r.owner.Row
}

// originsOf returns what the tree records of a node, and what the run has of its row.
func (p *Plan) originsOf(r *recorded, row string) *origins {
	o := &origins{row: row, rowBefore: r.row()}
	if p.hadVersion != "" && p.version != "" {
		o.sameVersion = p.hadVersion == p.version
		o.newVersion = !o.sameVersion
	}
	if r.owner == nil {
		return o
	}
	before, was := index.Digests{Origins: p.had}, r.owner.Origin()
	for _, digest := range before.Of(was) {
		was.Digest = digest
		t := index.TemplateOf(p.hadTemplates, was)
		if t == nil {
			o.before = nil
			return o
		}
		o.before = append(o.before, t)
	}
	return o
}

// recordRows decides which rows the index records. A row remains until a file of its node
// changes, so that the index doesn't change alone. For the same reason, a row that the index
// lacks waits for another change. If the run changes some files of a node and keeps others,
// nobody knows the row of all.
func (p *Plan) recordRows() {
	type node struct {
		owner            *index.Owner // of the files of the run
		before           recorded
		changed, partial bool
	}
	nodes := map[lynq.NodeKey]*node{}
	of := func(o *index.Owner) *node {
		if nodes[o.Node] == nil {
			nodes[o.Node] = &node{}
		}
		return nodes[o.Node]
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.File != nil && !s.File.Shared() {
			n := of(s.File.Owner)
			n.owner = s.File.Owner
			n.changed, n.partial = n.changed || s.writes(), n.partial || s.Action == ActionConflict
		}
		if s.Old != nil && !s.Old.Shared() {
			n := of(s.Old.Owner)
			n.changed, n.partial = n.changed || s.Action == ActionRemove, n.partial || s.Action == ActionConflict
			n.before.add(s.Old.Owner)
		}
	}
	for _, e := range p.Kept {
		if n := nodes[e.Node]; n != nil {
			n.partial = true
		}
	}
	alone := p.alone()
	for key, n := range nodes {
		before := n.before.row()
		switch {
		case n.owner == nil:
		case n.partial && (n.changed || before == ""):
			n.owner.Row, p.mixed[key] = "", true
		case !n.changed && (before != "" || alone):
			n.owner.Row = before
		}
	}
}

// alone reports whether the run changes neither a file nor the forms in the index.
func (p *Plan) alone() bool {
	return !p.edited && !p.touches() && slices.Equal(p.forms(p.owners()), p.had)
}

// unmixed returns an entry without its row, if nobody knows the row of all files of its node.
func (p *Plan) unmixed(e index.Entry) index.Entry {
	if p.mixed[e.Node] && e.Row != "" {
		owner := *e.Owner
		owner.Row, e.Owner = "", &owner
	}
	return e
}

// recordTemplates records in an index from which templates the files come after the run, and
// which lynqctl rendered them. kept are the forms of files that remain, as in Plan.forms. If
// nothing else changes, the tree keeps its records, even if another version of lynqctl renders
// the same.
func (p *Plan) recordTemplates(x *index.Index, kept map[index.Origin]bool) {
	if p.alone() {
		x.Templates, x.Lynqctl = p.hadTemplates, p.hadVersion
		return
	}
	if x.Lynqctl = p.version; len(kept) > 0 && p.hadVersion != p.version {
		x.Lynqctl = ""
	}
	for _, o := range x.Forms {
		t := index.TemplateOf(p.hadTemplates, o)
		keeps := kept[o.Bare()] && slices.Contains(p.had, o)
		if !keeps { // else nobody knows the files that remain, unless the tree has recorded them
			t = index.TemplateOf(p.newTemplates, o)
		}
		if t != nil {
			x.Templates = append(x.Templates, *t)
		}
	}
}
