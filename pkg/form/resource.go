package form

import (
	"slices"
	"strings"
	"unicode"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// maxIDLength keeps an id short enough for the inventory.
const maxIDLength = 253

// entry is a resource with data that lynqctl needs only while it reads the form.
type entry struct {
	*Resource
	label   string // its name in messages
	idPos   lynq.Pos
	depends []Text // DependIDs with their places
}

// readEntry reads one item of a section.
func readEntry(spec *object, s section, index int, v *document.Value, defaults []*policyDefault) *entry {
	label := entryLabel(v.Field("id").Literal(), s.Name, index)
	o := newObject(spec.report, spec.subject+", "+label, "", v)
	o.fields = spec.field(s.Name).Fields
	r := &Resource{Pos: v.Pos, Section: s.Name, Manifest: &document.Value{Kind: document.Map, Pos: v.Pos}}
	e := &entry{Resource: r, label: label}
	id := readID(o)
	e.ID, e.idPos = id.Text, id.Pos
	r.IncludeWhen = readCondition(o, "includeWhen")
	r.NameTemplate = notBlank(o.text("nameTemplate"))
	r.TargetNamespace = notBlank(o.text("targetNamespace"))
	r.Labels = readKeyed(o, "labelsTemplate")
	r.Annotations = readKeyed(o, "annotationsTemplate")
	readDependencies(o, e)
	if manifest := o.needObject("spec"); manifest.value.Kind == document.Map {
		readManifest(manifest, s, r)
	}
	readPolicies(o, r, lynq.Policies(), defaults)
	o.done()
	return e
}

// readID reads the id, which becomes part of keys like Kind/Namespace/Name@id.
func readID(o *object) Text {
	id := o.needText("id")
	checkID(o, id)
	return id
}

// checkID reports an invalid id.
func checkID(o *object, id Text) {
	switch {
	case document.IsTemplate(id.Text):
		o.fail(id.Pos, "write it out", "id %q may not be a template", id.Text)
	case len(id.Text) > maxIDLength:
		o.fail(id.Pos, "shorten it", "the id has %d bytes, %d are allowed", len(id.Text), maxIDLength)
	case strings.ContainsFunc(id.Text, func(r rune) bool {
		return r == '/' || r == '@' || unicode.IsSpace(r) || !unicode.IsPrint(r)
	}):
		o.fail(id.Pos, "use letters, digits and dashes", "id %q has a slash, an @, white space or a control character", id.Text)
	}
}

// readCondition reads a template that is true for some rows.
func readCondition(o *object, field string) Text {
	t := o.text(field)
	if t.IsSet() && !document.IsTemplate(t.Text) && t.Text != "true" && t.Text != "false" {
		o.fail(t.Pos, `write a template such as {{ eq .plan "gold" }}`, "%s must be a template that gives true or false, or one of them; found %q", o.name(field), t.Text)
		return Text{}
	}
	return t
}

// notBlank treats white space as absent.
func notBlank(t Text) Text {
	if strings.TrimSpace(t.Text) == "" {
		return Text{}
	}
	return t
}

// readKeyed reads labelsTemplate or annotationsTemplate.
func readKeyed(o *object, field string) []Entry {
	entries := o.entries(field)
	for _, e := range entries {
		checkKey(o, e.Text.Pos, field, e.Key)
	}
	return entries
}

func readDependencies(o *object, e *entry) {
	for _, d := range o.texts("dependIds") {
		if slices.Contains(e.DependIDs, d.Text) {
			o.warn(d.Pos, "remove it", "dependIds has %q twice", d.Text)
			continue
		}
		e.depends = append(e.depends, d)
		e.DependIDs = append(e.DependIDs, d.Text)
	}
}
