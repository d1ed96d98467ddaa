package form_test

import (
	"os"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// TestSchemaFields wants testdata/schema.yaml to have each field, because TestSchemas compares
// only these with what Load reads.
func TestSchemaFields(t *testing.T) {
	content, err := os.ReadFile("testdata/schema.yaml")
	if err != nil {
		t.Fatal(err)
	}
	documents := map[string][]any{}
	for text := range strings.SplitSeq(string(content), "\n---\n") {
		document := decode(t, text)
		kind := as[string](document["kind"])
		documents[kind] = append(documents[kind], document)
	}
	// TestSchemas gives hubs and forms from standard input, and these have no files.
	from := []string{"LynqHub.spec.lookups.file", "LynqForm.spec.files", "LynqForm.spec.kustomize", "LynqForm.spec.charts.valuesFiles"}
	for _, kind := range []string{wellknown.KindHub, wellknown.KindForm} {
		t.Run(kind, func(t *testing.T) {
			root, used := form.FieldsOf(kind), map[string]bool{}
			useFields(&root, kind, documents[kind], used)
			for _, field := range from {
				used[field] = true
			}
			for field, is := range used {
				if !is {
					t.Errorf("no document of testdata/schema.yaml has %s", field)
				}
			}
			if len(used) < 70 {
				t.Errorf("%s has %d fields, which is too few to tell anything", kind, len(used))
			}
		})
	}
}

// useFields adds the fields below a field to used, with true if one of the values has them.
func useFields(f *form.Field, path string, values []any, used map[string]bool) {
	for i := range f.Fields {
		below := &f.Fields[i]
		if below.Type == form.AnyField && below.Rules == "" {
			continue
		}
		name := path + "." + below.Name
		var inner []any
		for _, v := range values {
			if v, has := as[map[string]any](v)[below.Name]; has {
				inner = append(inner, v)
				if list, is := v.([]any); is {
					inner = append(inner, list...)
				}
			}
		}
		used[name] = used[name] || len(inner) > 0
		if below.Shared != "" {
			name = below.Shared
		}
		useFields(below, name, inner, used)
	}
}
