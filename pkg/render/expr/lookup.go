package expr

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
)

// Lookup says which fields templates may read of a lookup.
type Lookup struct {
	Fields []string
	// Open is set if any field may exist, because nobody has read the table yet.
	Open bool
	// Broken is set if the entries have errors, which the loader reports. Then any field may
	// exist, too.
	Broken bool
}

// Field is a field of a lookup. Its value is in the row, behind the columns.
type Field struct{ Lookup, Field string }

// ErrNoEntry means that a lookup has no entry for the row.
var ErrNoEntry = errors.New("a lookup has no entry for the row")

// Fields returns the used fields of lookups, in the order of their values.
func (s *Scope) Fields() []Field { return s.fields }

// fieldName names a field among the variables. No variable has this character.
func fieldName(lookup, field string) string { return lookup + "\x00" + field }

// variable returns the name of the variable at a path of one or two names, or "".
func (s *Scope) variable(path []string) string {
	switch _, isLookup := s.Lookups[path[0]]; {
	case len(path) == 1 && !isLookup:
		return path[0]
	case len(path) == 2 && isLookup:
		return fieldName(path[0], path[1])
	}
	return ""
}

// column returns the index of a variable's value.
func (s *Scope) column(name string) (int, bool) {
	lookup, field, isField := strings.Cut(name, "\x00")
	if !isField {
		column, ok := s.Columns[name]
		return column, ok
	}
	i := slices.Index(s.fields, Field{lookup, field})
	return s.Width + i, i >= 0
}

// use notes a field of a lookup, and returns its name among the variables.
func (s *Scope) use(lookup, field string) string {
	if f := (Field{lookup, field}); !slices.Contains(s.fields, f) {
		s.fields = append(s.fields, f)
	}
	return fieldName(lookup, field)
}

// lookup checks a path that begins with the name of a lookup. The name alone is the map of
// all fields.
func (c *checker) lookup(l Lookup, path []string) {
	name := path[0]
	switch {
	case l.Broken:
	case len(path) == 1 && l.Open:
		c.found(fmt.Sprintf("name a column: .%s.COLUMN", name), ".%s is a lookup in a table, and templates read its columns only", name)
	case len(path) == 1:
		c.useLookup(name, l)
		c.nests = true
	case !l.Open && !slices.Contains(l.Fields, path[1]):
		c.found(suggest.Fix(path[1], l.Fields), "lookup .%s has no field %q", name, path[1])
	case len(path) > 2:
		c.found("", ".%s.%s is text and has no field %s", name, path[1], strings.Join(path[2:], "."))
	default:
		c.used[c.scope.use(name, path[1])] = true
	}
}

// useLookup notes all fields of a lookup.
func (c *checker) useLookup(name string, l Lookup) {
	for _, field := range l.Fields {
		c.used[c.scope.use(name, field)] = true
	}
}

// put adds the value of a variable to the map for interpreted templates.
func (v *usedVariable) put(data map[string]any, text string) {
	lookup, field, isField := strings.Cut(v.name, "\x00")
	if !isField {
		data[v.name] = text
		return
	}
	fields, _ := data[lookup].(map[string]any)
	if fields == nil {
		fields = map[string]any{}
		data[lookup] = fields
	}
	fields[field] = text
}

// clone copies the map of variables with its lookups, because the template changes it.
func (s *Scope) clone(data map[string]any) map[string]any {
	data = maps.Clone(data)
	for name := range s.Lookups {
		if fields, ok := data[name].(map[string]any); ok {
			data[name] = maps.Clone(fields)
		}
	}
	return data
}
