package form

import (
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// StandsOn tells whether a resource cannot be written before another although it does
// not say so: that is its Namespace, or the definition of its kind. They are found
// where the form writes the names alike.
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

// textOf is a text of the form, else that of a value. Templates are compared as
// they are: the same template is the same text for every row.
func textOf(text string, v *document.Value) string {
	if text == "" && v != nil {
		text = v.Str
	}
	return strings.TrimSpace(text)
}

// IsNamespace tells whether a resource is a Namespace.
func (r *Resource) IsNamespace() bool { return r.APIVersion == "v1" && r.Kind == "Namespace" }

// IsDefinition tells whether a resource is a CustomResourceDefinition.
func (r *Resource) IsDefinition() bool {
	group, _ := lynq.SplitAPIVersion(r.APIVersion)
	return group == "apiextensions.k8s.io" && r.Kind == "CustomResourceDefinition"
}
