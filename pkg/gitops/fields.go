package gitops

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/changeset"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// ProgramOf returns a form of the run, or nil.
type ProgramOf func(hub lynq.HubKey, form lynq.FormKey) *render.Program

// EditOf returns how a resource of a form changed since these templates, or nil if nobody knows.
type EditOf func(p *render.Program, id string, since *index.Template) *changeset.Edit

// Explain finds the changed fields of all changed objects, and their causes. edits may be nil.
func (r *Report) Explain(programOf ProgramOf, edits EditOf) {
	known, causes := newFieldsByShape(), map[string]Why{}
	for i := range r.Changes {
		n := &r.Changes[i]
		x := &explainer{origins: n.origins, program: programOf(n.Hub, n.Form), edits: edits, causes: causes}
		if x.program != nil {
			x.changed = x.program.Changed(x.rowBefore, x.row)
		}
		x.state = n.Hub.String() + "\n" + n.Form.String() + "\n" + x.states()
		for j := range n.Objects {
			o := &n.Objects[j]
			if o.Change != Changed || o.Cause != "" {
				continue
			}
			if o.old != nil && o.new != nil && (o.key.Kind != "Secret" || o.key.Group != "") {
				o.Fields = known.of(x.state+"\n"+o.ID, o.old, o.new, func(path []segment, kept bool) Why { return x.cause(o.ID, path, kept) })
			}
			if len(o.Fields) == 0 {
				o.Why = x.cause(o.ID, nil, true)
			}
			o.old, o.new = nil, nil // nobody needs the contents any more
		}
		n.origins = nil // neither the records
	}
	r.groups = r.group()
	r.Forms = r.groups.Edits()
}

// changedFields compares two documents. It returns nothing if it can't read one of them.
func changedFields(before, after []byte, causeOf causeOf) []FieldChange {
	var a, b any
	if yaml.Unmarshal(before, &a) != nil || yaml.Unmarshal(after, &b) != nil {
		return nil
	}
	d := fieldDiff{causeOf: causeOf}
	d.compare(a, b, nil, true)
	return d.changes
}

// segment is a key or a list index in a path.
type segment struct {
	key   string
	index int
	list  bool
}

// fieldDiff compares two values.
type fieldDiff struct {
	causeOf causeOf
	changes []FieldChange
}

// causeOf returns the cause of a changed field. kept is set if the object keeps the field.
type causeOf func(path []segment, kept bool) Why

func (d *fieldDiff) compare(a, b any, path []segment, kept bool) {
	if kept && reflect.DeepEqual(a, b) {
		return
	}
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			d.maps(a, b, path)
			return
		}
	case []any:
		if b, ok := b.([]any); ok && len(a) == len(b) {
			for i := range a {
				d.compare(a[i], b[i], append(slices.Clip(path), segment{index: i, list: true}), true)
			}
			return
		}
	}
	d.changes = append(d.changes, FieldChange{Field: fieldName(path), Why: d.causeOf(path, kept)})
}

func (d *fieldDiff) maps(a, b map[string]any, path []segment) {
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	for _, k := range sortedKeys(keys) {
		_, kept := b[k]
		d.compare(a[k], b[k], append(slices.Clip(path), segment{key: k}), kept)
	}
}

// String returns the segment as Program.SameAt takes it.
func (s segment) String() string {
	if s.list {
		return "[" + strconv.Itoa(s.index) + "]"
	}
	return s.key
}

// fieldName returns for example spec.containers[0].image, or data["app.conf"] for a key
// that isn't a plain word.
func fieldName(path []segment) string {
	var b strings.Builder
	for _, s := range path {
		switch {
		case s.list:
			b.WriteString(s.String())
		case strings.ContainsFunc(s.key, func(r rune) bool {
			return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		}):
			b.WriteString("[" + strconv.Quote(s.key) + "]")
		case b.Len() > 0:
			b.WriteString("." + s.key)
		default:
			b.WriteString(s.key)
		}
	}
	return b.String()
}
