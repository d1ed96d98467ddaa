package form

import (
	"cmp"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// readRenamedFrom reads a form's previous name from its annotations.
func readRenamedFrom(o *object, m meta) Text {
	for _, e := range m.Annotations {
		if e.Key != wellknown.AnnotationRenamedFrom {
			continue
		}
		t := e.Text
		switch {
		case !naming.IsDNS1123Subdomain(t.Text):
			o.fail(t.Pos, "write the name that the form had before", "annotation %s: %q is not a valid name", e.Key, t.Text)
		case t.Text == m.Name:
			o.fail(t.Pos, "write the name that the form had before, or remove it", "annotation %s: the form has this name", e.Key)
		default:
			return t
		}
	}
	return Text{}
}

// readPreviousUID reads the column with the previous uid of each row.
func readPreviousUID(values *object, hub *Hub) Mapping {
	const field = "previousUid"
	t := values.text(field)
	if t.Text == "" {
		return Mapping{}
	}
	if slices.ContainsFunc(hub.Mappings, func(m Mapping) bool { return m.Variable == "uid" && m.Column == t.Text }) {
		values.fail(t.Pos, "name another column, with the uid that the row had before", "%s: column %q is the uid that the row has now", values.name(field), t.Text)
	}
	return Mapping{Variable: field, Column: t.Text, Pos: t.Pos}
}

// linkRenamed checks the previous names of forms. The old form must be gone, and only one
// form may replace it.
func (l *loader) linkRenamed() {
	type name struct {
		hub *Hub
		lynq.FormKey
	}
	called := func(hub *Hub, f *Form, as string) name {
		return name{hub, lynq.FormKey{Namespace: cmp.Or(f.Namespace, hub.Namespace), Name: as}}
	}
	present, heirs := map[name]*Form{}, map[name]*Form{}
	for _, f := range l.in.Forms {
		if hub := l.in.Hub(f); hub != nil {
			present[called(hub, f, f.Name)] = f
		}
	}
	for _, f := range l.in.Forms {
		hub, t := l.in.Hub(f), f.RenamedFrom
		if hub == nil || t.Text == "" {
			continue
		}
		key := called(hub, f, t.Text)
		if other := present[key]; other != nil {
			l.problems.Add(t.Pos, "remove the old form, or the annotation", "%s: annotation %s: form %q is still in these inputs, at %s", subjectOf("form", f.Name), wellknown.AnnotationRenamedFrom, t.Text, other.Pos)
		}
		if other := heirs[key]; other != nil {
			l.problems.Add(t.Pos, "remove it from one of them", "%s: annotation %s: form %q says that it was %q, too, at %s", subjectOf("form", f.Name), wellknown.AnnotationRenamedFrom, other.Name, t.Text, other.RenamedFrom.Pos)
		}
		heirs[key] = f
	}
}
