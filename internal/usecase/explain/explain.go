package explain

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
	"github.com/lynqctl/lynqctl/schemas"
)

// Field describes a field.
type Field struct {
	Name        string
	Type        string // object, string, list of object, ...
	Description string
	Default     string   // "" for none
	Values      []string // the allowed words, nil for any
	Required    bool
	Fields      []Field // below it, sorted by name
}

// schema is the part of JSON schema that the schemas of hubs and forms use.
type schema struct {
	Ref                  string             `json:"$ref"`
	Type                 string             `json:"type"`
	Description          string             `json:"description"`
	Default              any                `json:"default"`
	Enum                 []any              `json:"enum"`
	Properties           map[string]*schema `json:"properties"`
	Required             []string           `json:"required"`
	Items                *schema            `json:"items"`
	OneOf                []*schema          `json:"oneOf"`
	AnyOf                []*schema          `json:"anyOf"`
	AdditionalProperties json.RawMessage    `json:"additionalProperties"`
	Definitions          map[string]*schema `json:"definitions"`
}

// Types returns the types that a path may begin with.
func Types() []string { return []string{"hub", "form"} }

// Find describes the field of a path, such as form.spec.rollout.
func Find(path string) (*Field, error) {
	kind, rest, _ := strings.Cut(path, ".")
	text := map[string][]byte{"hub": schemas.Hub, "form": schemas.Form}[kind]
	if text == nil {
		return nil, fmt.Errorf("%q isn't TYPE or TYPE.FIELD, where TYPE is one of %s", path, strings.Join(Types(), ", "))
	}
	root := &schema{}
	if err := json.Unmarshal(text, root); err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", kind, err)
	}
	s, required := root, false
	for at := kind; rest != ""; {
		below := root.below(s)
		name, after := first(rest, below)
		if below[name] == nil {
			return nil, fmt.Errorf("%s has no field %q (%s)", at, name, suggest.Fix(name, slices.Sorted(maps.Keys(below))))
		}
		required = root.requires(s, name)
		s, at, rest = below[name], at+"."+name, after
	}
	f := root.field(path, s)
	f.Required = required
	below := root.below(s)
	for _, name := range slices.Sorted(maps.Keys(below)) {
		field := root.field(name, below[name])
		field.Required = root.requires(s, name)
		f.Fields = append(f.Fields, field)
	}
	return &f, nil
}

// first returns the first field of a path, and the rest. The names of annotations have dots.
func first(path string, fields map[string]*schema) (name, rest string) {
	for known := range fields {
		if after, found := strings.CutPrefix(path+".", known+"."); found && len(known) > len(name) {
			name, rest = known, strings.TrimSuffix(after, ".")
		}
	}
	if name == "" {
		name, rest, _ = strings.Cut(path, ".")
	}
	return name, rest
}

// variants returns a schema, those that it refers to, and its alternatives.
func (root *schema) variants(s *schema) []*schema {
	if s == nil {
		return nil
	}
	all := []*schema{s}
	if name, refers := strings.CutPrefix(s.Ref, "#/definitions/"); refers {
		all = append(all, root.variants(root.Definitions[name])...)
	}
	for _, v := range slices.Concat(s.OneOf, s.AnyOf) {
		all = append(all, root.variants(v)...)
	}
	return all
}

// below returns the fields of an object, or of the objects in a list.
func (root *schema) below(s *schema) map[string]*schema {
	fields := map[string]*schema{}
	for _, v := range root.variants(s) {
		if v.Items != nil {
			maps.Copy(fields, root.below(v.Items))
		}
		for name, p := range v.Properties {
			if old := fields[name]; old != nil && old != p { // alternatives have it, too
				p = &schema{AnyOf: []*schema{old, p}}
			}
			fields[name] = p
		}
	}
	return fields
}

// requires reports whether an object must have a field.
func (root *schema) requires(s *schema, name string) bool {
	for s.Items != nil {
		s = s.Items
	}
	if slices.Contains(s.Required, name) {
		return true
	}
	named, refers := strings.CutPrefix(s.Ref, "#/definitions/")
	return refers && root.Definitions[named] != nil && root.requires(root.Definitions[named], name)
}

// field describes a schema, without the fields below it.
func (root *schema) field(name string, s *schema) Field {
	f := Field{Name: name, Type: root.typeOf(s)}
	for _, v := range root.variants(s) {
		if f.Description == "" {
			f.Description = v.Description
		}
		if f.Default == "" && v.Default != nil {
			f.Default = fmt.Sprint(v.Default)
		}
		for _, word := range v.Enum {
			text := fmt.Sprint(word)
			if !slices.ContainsFunc(f.Values, func(other string) bool { return spelling(other) == spelling(text) }) {
				f.Values = append(f.Values, text)
			}
		}
	}
	return f
}

// spelling returns a word without the differences between annotations and fields.
func spelling(word string) string { return strings.ToLower(strings.ReplaceAll(word, "-", "")) }

// typeOf names the type of a schema.
func (root *schema) typeOf(s *schema) string {
	var types []string
	for _, v := range root.variants(s) {
		text := v.Type
		switch {
		case v.Type == "array" && v.Items != nil:
			text = "list of " + root.typeOf(v.Items)
		case v.Type == "" && len(v.Properties) > 0:
			text = "object"
		case v.Type == "object" && len(v.Properties) == 0 && strings.HasPrefix(string(v.AdditionalProperties), "{"):
			text = "map"
		}
		if text != "" && !slices.Contains(types, text) {
			types = append(types, text)
		}
	}
	if len(types) == 0 {
		return "string"
	}
	return strings.Join(types, " or ")
}
