package form

import (
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// readManifest reads a resource's spec, which is a complete Kubernetes object.
func readManifest(o *object, s section, r *Resource) {
	r.APIVersion, r.Kind = readLiteral(o, "apiVersion"), readLiteral(o, "kind")
	if r.APIVersion != "" && r.Kind != "" {
		checkSection(o, s, r)
	}
	group, _ := lynq.SplitAPIVersion(r.APIVersion)
	if group == wellknown.Group {
		o.fail(document.FieldPos(o.value, "apiVersion"), "remove it", "a %s of group %s belongs to the Lynq operator, and a form can't have it", r.Kind, group)
	}
	if r.TargetNamespace.IsSet() && kinds.ClusterScoped(group, r.Kind) {
		o.warn(r.TargetNamespace.Pos, "remove it", "targetNamespace is ignored: a %s has no namespace", r.Kind)
	}
	r.Manifest = withoutLeftovers(o.value)
	m := o.object("metadata")
	checkMetadata(m)
	if !r.NameTemplate.IsSet() && !hasName(o.value) {
		fix := "add nameTemplate"
		if s.outside() {
			fix = "add metadata.name"
		}
		o.fail(o.value.Pos, fix, "the object has no name")
	}
	if status := r.Manifest.Field("status"); status != nil {
		o.fail(status.Pos, "remove it", "status is not applied")
	}
	c := contentChecker{object: o, apiVersion: r.APIVersion, kind: r.Kind}
	c.walk(r.Manifest, nil)
}

// readLiteral reads apiVersion or kind. They can't be templates, because a row must not
// change what the object is.
func readLiteral(o *object, field string) string {
	t := o.needText(field)
	if document.IsTemplate(t.Text) {
		o.fail(t.Pos, "write it out", "%s may not be a template", o.name(field))
		return ""
	}
	return t.Text
}

// checkSection checks that the object's kind fits the section.
func checkSection(o *object, s section, r *Resource) {
	group, version := lynq.SplitAPIVersion(r.APIVersion)
	pos := document.FieldPos(o.value, "kind")
	switch {
	case version == "" || strings.Contains(version, "/") || group == "" && strings.Contains(r.APIVersion, "/"):
		o.fail(document.FieldPos(o.value, "apiVersion"), "write GROUP/VERSION, or VERSION for core kinds", "apiVersion %q is not valid", r.APIVersion)
	case r.APIVersion == "v1" && r.Kind == "List":
		o.fail(pos, "write one entry per object", "a List is not an object")
	case s.Name == anySection || s.outside():
		checkSpelling(o, pos, group, r.Kind)
	case r.Kind != s.Kind:
		o.fail(pos, kindFix(s, group, r.Kind), "section %s takes kind %s, found %s", s.Name, s.Kind, r.Kind)
	case group != s.Group:
		o.fail(document.FieldPos(o.value, "apiVersion"), "write "+apiVersionHint(s.Group), "section %s takes kind %s of %s, found apiVersion %s",
			s.Name, s.Kind, groupName(s.Group), r.APIVersion)
	}
}

// kindFix names the section for an object of this kind. If no section fits, the kind may
// be misspelled.
func kindFix(s section, group, kind string) string {
	right := SectionFor(group, kind)
	if _, ok := suggest.Near(kind, []string{s.Kind}); right == anySection && ok {
		return suggest.Fix(kind, []string{s.Kind})
	}
	return "move it to " + right
}

func apiVersionHint(group string) string {
	if group == "" {
		return "v1"
	}
	return group + "/VERSION"
}

func groupName(group string) string {
	if group == "" {
		return "the core group"
	}
	return "group " + group
}

// serverOwned returns the metadata that only the server writes.
func serverOwned() []string {
	return []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink",
		"deletionTimestamp", "deletionGracePeriodSeconds"}
}

// checkMetadata checks the metadata of a manifest, which may be nil. A form can't set some
// fields, not even to null. lynqctl would send the null, and it would replace lynqctl's
// own value.
func checkMetadata(m *object) {
	if m == nil || m.value.Kind != document.Map {
		return
	}
	refuse := func(field, fix, why string) {
		if v := m.value.Field(field); v != nil {
			m.fail(v.Pos, fix, "%s %s", m.name(field), why)
		}
	}
	for _, field := range serverOwned() {
		refuse(field, "remove it", "is set by the API server")
	}
	refuse("ownerReferences", "remove it", "is set by lynqctl")
	refuse("generateName", "write its name", "creates a new object at every run")
	m.text("name")
	m.text("namespace")
	m.texts("finalizers")
	for _, field := range []string{"labels", "annotations"} {
		if v := m.get(field); v != nil && v.Kind != document.Map {
			m.fail(v.Pos, "", "%s must be a mapping, found %s", m.name(field), v.Describe())
		}
	}
	known := append(serverOwned(), "ownerReferences", "generateName", "name", "namespace", "finalizers", "labels", "annotations")
	for _, f := range m.value.Fields {
		if !slices.Contains(known, f.Key) {
			m.unknown(f, known)
		}
	}
}

func hasName(manifest *document.Value) bool {
	name := manifest.Field("metadata").Field("name")
	return name != nil && name.Kind != document.Null && (name.Kind != document.String || strings.TrimSpace(name.Str) != "")
}

// withoutLeftovers drops an empty status, because tools write it without need.
func withoutLeftovers(manifest *document.Value) *document.Value {
	result := *manifest
	result.Fields = slices.DeleteFunc(slices.Clone(manifest.Fields), func(f document.Field) bool {
		return f.Key == "status" && (f.Value.Kind == document.Null || f.Value.Kind == document.Map && len(f.Value.Fields) == 0)
	})
	return &result
}
