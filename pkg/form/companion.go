package form

import (
	"encoding/base64"

	"github.com/lynqctl/lynqctl/pkg/form/document"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// secret reads a core/v1 Secret, which may have a hub's password. Messages name its keys
// and never its values.
func (l *loader) secret(v *document.Value) {
	o := newObject(&l.report, subject("Secret", v), "", v)
	m := o.needObject("metadata")
	s := &Secret{Pos: v.Pos, Name: m.needText("name").Text, Namespace: readNamespace(m), Data: map[string]endpoint.Secret{}}
	for _, e := range o.entries("data") {
		value, err := base64.StdEncoding.DecodeString(e.Text.Text)
		if err != nil {
			o.fail(e.Text.Pos, "encode it, or write it under stringData as it is", "data.%s is not base64", e.Key)
			continue
		}
		s.Data[e.Key] = endpoint.Secret(value)
	}
	for _, e := range o.entries("stringData") {
		s.Data[e.Key] = endpoint.Secret(e.Text.Text)
	}
	if s.Name != "" {
		l.in.Secrets = append(l.in.Secrets, s)
	}
}

// customResource reads the scope and the plural of a kind from its
// CustomResourceDefinition.
func (l *loader) customResource(v *document.Value) {
	o := newObject(&l.report, subject("CustomResourceDefinition", v), "", v)
	spec := o.needObject("spec")
	group := spec.needText("group").Text
	names := spec.needObject("names")
	kind := names.needText("kind").Text
	scope := oneOf(spec, "scope", spec.needText("scope"), "", []string{"Namespaced", "Cluster"})
	if scope == "Cluster" {
		l.in.ClusterScoped[GroupKind{Group: group, Kind: kind}] = true
	}
	if plural := names.text("plural").Text; plural != "" {
		l.in.Plurals[GroupKind{Group: group, Kind: kind}] = plural
	}
}

// learnScopes reads scopes and plurals from CustomResourceDefinitions among a form's
// resources, because other resources may have these kinds. It reads only literal values,
// which hold for every row.
func (in *Inputs) learnScopes(f *Form) {
	for _, r := range f.Resources {
		if !r.IsDefinition() {
			continue
		}
		spec := r.Manifest.Field("spec")
		key := GroupKind{Group: spec.Field("group").Literal(), Kind: spec.Field("names").Field("kind").Literal()}
		if key.Group == "" || key.Kind == "" {
			continue
		}
		if spec.Field("scope").Literal() == "Cluster" {
			in.ClusterScoped[key] = true
		}
		if plural := spec.Field("names").Field("plural").Literal(); plural != "" {
			in.Plurals[key] = plural
		}
	}
}
