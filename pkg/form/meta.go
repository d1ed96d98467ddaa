package form

import (
	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
)

// maxNameLength limits names of hubs and forms, because they become labels.
const maxNameLength = 63

// meta has the relevant metadata of an object.
type meta struct {
	Name, Namespace string
	Generation      int64
	Annotations     []Entry
}

// subject names the object of a document in messages, before lynqctl checks the object.
func subject(what string, v *document.Value) string {
	return subjectOf(what, v.Field("metadata").Field("name").Literal())
}

// readMeta reads the metadata of a hub or form.
func readMeta(o *object) meta {
	m := o.needObject("metadata")
	var result meta
	if name := m.needText("name"); name.Text != "" {
		switch {
		case !naming.IsDNS1123Subdomain(name.Text):
			m.fail(name.Pos, "use lowercase letters, digits, '-', and '.'", "%q is not a valid name", name.Text)
		case len(name.Text) > maxNameLength:
			m.fail(name.Pos, "shorten it: labels hold it", "the name has %d characters, %d are allowed", len(name.Text), maxNameLength)
		}
		result.Name = name.Text
	}
	result.Namespace = readNamespace(m)
	result.Generation = int64(m.integer("generation", 0))
	m.entries("labels")
	result.Annotations = m.entries("annotations")
	m.done()
	return result
}

// readNamespace reads metadata.namespace, or returns "".
func readNamespace(m *object) string {
	namespace := m.text("namespace")
	if namespace.Text != "" && !naming.IsDNS1123Label(namespace.Text) {
		m.fail(namespace.Pos, "use lowercase letters, digits, and '-'", "%q is not a valid namespace", namespace.Text)
	}
	return namespace.Text
}
