package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
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

// Types returns the types that a path may begin with.
func Types() []string { return []string{"hub", "form"} }

// Find describes the field of a path, such as form.spec.rollout.
func Find(path string) (*Field, error) {
	kind, rest, _ := strings.Cut(path, ".")
	from := form.FieldsOf(map[string]string{"hub": wellknown.KindHub, "form": wellknown.KindForm}[kind])
	if from.Fields == nil {
		return nil, fmt.Errorf("%q isn't TYPE or TYPE.FIELD, where TYPE is one of %s", path, strings.Join(Types(), ", "))
	}
	for at := kind; rest != ""; {
		name, after := first(rest, from.Fields)
		i := slices.IndexFunc(from.Fields, func(f form.Field) bool { return f.Name == name })
		if i < 0 {
			var names []string
			for _, f := range from.Fields {
				names = append(names, f.Name)
			}
			slices.Sort(names)
			return nil, fmt.Errorf("%s has no field %q (%s)", at, name, suggest.Fix(name, names))
		}
		from, at, rest = from.Fields[i], at+"."+name, after
	}
	f := describe(path, &from)
	for i := range from.Fields {
		f.Fields = append(f.Fields, describe(from.Fields[i].Name, &from.Fields[i]))
	}
	slices.SortFunc(f.Fields, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return &f, nil
}

// first returns the first field of a path, and the rest. The names of annotations have dots.
func first(path string, fields []form.Field) (name, rest string) {
	for _, f := range fields {
		if after, found := strings.CutPrefix(path+".", f.Name+"."); found && len(f.Name) > len(name) {
			name, rest = f.Name, strings.TrimSuffix(after, ".")
		}
	}
	if name == "" {
		name, rest, _ = strings.Cut(path, ".")
	}
	return name, rest
}

// describe describes a field, without the fields below it.
func describe(name string, from *form.Field) Field {
	f := Field{Name: name, Type: typeOf(from), Description: from.Doc, Default: from.Default, Required: from.Required}
	for _, word := range from.Words {
		if !slices.ContainsFunc(f.Values, func(other string) bool { return spelling(other) == spelling(word) }) {
			f.Values = append(f.Values, word)
		}
	}
	return f
}

// spelling returns a word without the differences between annotations and fields.
func spelling(word string) string { return strings.ToLower(strings.ReplaceAll(word, "-", "")) }

// typeOf names the type of a field.
func typeOf(f *form.Field) string {
	switch {
	case f.Type == form.NumberField:
		return "integer"
	case f.Type == form.FlagField:
		return "boolean"
	case f.Type == form.ListField && f.Fields == nil:
		return "list of string"
	case f.Type == form.ListField:
		return "list of object"
	case f.Type == form.MapField && f.Fields == nil:
		return "map"
	case f.Type == form.TextField, f.Type == form.AnyField:
		return "string"
	}
	return "object"
}
