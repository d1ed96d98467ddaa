package form

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// StandsOn reports whether a resource needs another one without naming it as a dependency.
// The other one is its Namespace, or the definition of its kind. lynqctl compares the
// names as the form spells them.
func (r *Resource) StandsOn(other *Resource) bool {
	switch {
	case other.IsNamespace():
		namespace := textOf(r.TargetNamespace.Text, r.Manifest.Field("metadata").Field("namespace"))
		return namespace != "" && namespace == textOf(other.NameTemplate.Text, other.Manifest.Field("metadata").Field("name"))
	case other.IsDefinition():
		group, _ := lynq.SplitAPIVersion(r.APIVersion)
		spec := other.Manifest.Field("spec")
		return r.Kind == textOf("", spec.Field("names").Field("kind")) && group == textOf("", spec.Field("group"))
	}
	return false
}

// textOf returns a text of the form, or else the text of a value. It compares templates
// unrendered, because the same template renders the same text for a row.
func textOf(text string, v *document.Value) string {
	if text == "" && v != nil {
		text = v.Str
	}
	return strings.TrimSpace(text)
}

// IsNamespace reports whether a resource is a Namespace.
func (r *Resource) IsNamespace() bool { return r.APIVersion == "v1" && r.Kind == "Namespace" }

// IsDefinition reports whether a resource is a CustomResourceDefinition.
func (r *Resource) IsDefinition() bool {
	group, _ := lynq.SplitAPIVersion(r.APIVersion)
	return group == "apiextensions.k8s.io" && r.Kind == "CustomResourceDefinition"
}
