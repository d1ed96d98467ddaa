package form

import (
	"slices"

	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
)

// readDependForms reads the forms that a form waits for.
func readDependForms(spec *object, name string) []Text {
	var forms []Text
	for _, t := range spec.texts("dependForms") {
		switch {
		case !naming.IsDNS1123Subdomain(t.Text):
			spec.fail(t.Pos, "write the name of a form", "%s: %q is not a valid name", spec.name("dependForms"), t.Text)
		case t.Text == name:
			spec.fail(t.Pos, "remove it", "%s: the form depends on itself", spec.name("dependForms"))
		case slices.ContainsFunc(forms, func(f Text) bool { return f.Text == t.Text }):
			spec.fail(t.Pos, "remove it", "%s has %q twice", spec.name("dependForms"), t.Text)
		default:
			forms = append(forms, t)
		}
	}
	return forms
}

// linkForms checks the dependencies between forms. They must have the same hub, and must
// not form a cycle. A form that isn't in the files may be in the cluster.
func (l *loader) linkForms() {
	byHub := map[*Hub][]*entry{}
	for _, f := range l.in.Forms {
		hub := l.in.Hub(f)
		if hub == nil {
			continue // reported
		}
		e := &entry{Resource: &Resource{ID: f.Name, Pos: f.Pos}, depends: f.DependForms}
		for _, d := range f.DependForms {
			e.DependIDs = append(e.DependIDs, d.Text)
			l.linkForm(f, hub, d)
		}
		byHub[hub] = append(byHub[hub], e)
	}
	for _, hub := range l.in.Hubs {
		for _, c := range cycles(byHub[hub]) {
			l.problems.Add(c.pos, "remove one of these dependencies", "%s: forms depend on each other in a cycle (dependForms): %s", subjectOf("hub", hub.Name), c.path)
		}
	}
}

// linkForm checks one dependency of a form.
func (l *loader) linkForm(f *Form, hub *Hub, d Text) {
	var near []string
	var elsewhere *Form
	for _, other := range l.in.Forms {
		switch same := l.in.Hub(other) == hub; {
		case other.Name == d.Text && same:
			return
		case other.Name == d.Text:
			elsewhere = other
		case same && other != f:
			near = append(near, other.Name)
		}
	}
	if elsewhere != nil {
		l.problems.Add(d.Pos, "name a form of hub "+hub.Name, "%s: dependForms: form %q is of hub %q, which has other rows", subjectOf("form", f.Name), d.Text, elsewhere.HubID)
	} else if meant, ok := suggest.Near(d.Text, near); ok {
		l.warnings.Add(d.Pos, "did you mean "+meant+"?", "%s: dependForms: form %q is not in these inputs", subjectOf("form", f.Name), d.Text)
	}
}
