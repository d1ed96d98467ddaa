package planfile_test

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/planfile"
)

// definition is a part of a JSON schema.
type definition struct {
	Properties           map[string]any
	Required             []string
	AdditionalProperties bool
}

// TestSchema compares the schema with the types. The schema must have each field, and
// require it unless an empty one is left out.
func TestSchema(t *testing.T) {
	b, err := os.ReadFile("../../../schemas/plan.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		definition
		Definitions map[string]definition
	}
	if err := json.Unmarshal(b, &schema); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		of    any
		found definition
	}{
		"the file": {planfile.File{}, schema.definition},
		"plan":     {planfile.Plan{}, schema.Definitions["plan"]},
		"node":     {planfile.Node{}, schema.Definitions["node"]},
		"ran":      {planfile.Ran{}, schema.Definitions["ran"]},
		"step":     {planfile.Step{}, schema.Definitions["step"]},
		"version":  {planfile.Version{}, schema.Definitions["version"]},
	} {
		t.Run(name, func(t *testing.T) {
			fields, required := fieldsOf(reflect.TypeOf(tt.of))
			if got := slices.Sorted(maps.Keys(tt.found.Properties)); !slices.Equal(got, slices.Sorted(slices.Values(fields))) {
				t.Errorf("the schema has %v, the type %v", got, fields)
			}
			if got := slices.Sorted(slices.Values(tt.found.Required)); !slices.Equal(got, slices.Sorted(slices.Values(required))) {
				t.Errorf("the schema requires %v, the type always has %v", got, required)
			}
			if tt.found.AdditionalProperties {
				t.Errorf("the schema takes any other field")
			}
		})
	}
}

// fieldsOf returns the JSON names of a type's fields, and of those that always exist.
func fieldsOf(typ reflect.Type) (fields, required []string) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		if f.Anonymous {
			more, always := fieldsOf(f.Type)
			fields, required = append(fields, more...), append(required, always...)
			continue
		}
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields = append(fields, name)
		if rest == "" {
			required = append(required, name)
		}
	}
	return fields, required
}
