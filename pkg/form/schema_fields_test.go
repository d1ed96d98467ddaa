package form_test

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestSchemaFields wants testdata/schema.yaml to have each field of the schemas, because
// TestSchemas compares only these with what Load reads.
func TestSchemaFields(t *testing.T) {
	content, err := os.ReadFile("testdata/schema.yaml")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{
		// TestSchemas gives hubs and forms from standard input, and these have no files.
		"lynqhub.spec.lookups.file": true, "lynqform.spec.files": true, "lynqform.spec.kustomize": true,
		"lynqform.spec.charts": true,
	}
	roots := map[string]map[string]any{}
	for text := range strings.SplitSeq(string(content), "\n---\n") {
		document := decode(t, text)
		name := strings.ToLower(as[string](document["kind"]))
		if roots[name] == nil {
			roots[name] = readSchema(t, name)
		}
		useFields(roots[name], roots[name], document, name, used)
	}
	for name, root := range roots {
		fields := 0
		visitFields(root, name, func(field string) {
			if fields++; !used[field] && !strings.HasPrefix(field, "lynqform.spec.charts.") {
				t.Errorf("no document of testdata/schema.yaml has %s", field)
			}
		})
		definitions, _ := root["definitions"].(map[string]any)
		for definition, rule := range definitions {
			visitFields(as[map[string]any](rule), definition, func(field string) {
				if fields++; !used[field] {
					t.Errorf("no document of testdata/schema.yaml has the field %s of a definition", field)
				}
			})
		}
		if fields < 70 {
			t.Errorf("%s has %d fields, which is too few to tell anything", name, fields)
		}
	}
}

// visitFields calls do for each field of a rule, except those that take any value.
func visitFields(rule map[string]any, path string, do func(field string)) {
	properties, _ := rule["properties"].(map[string]any)
	for key, below := range properties {
		if below := as[map[string]any](below); len(below) > 0 {
			do(path + "." + key)
			visitFields(below, path+"."+key, do)
		}
	}
	same, inner := partsOf(rule)
	for _, below := range slices.Concat(same, inner) {
		visitFields(below, path, do)
	}
}

// useFields adds the fields that a value has to used.
func useFields(root, rule map[string]any, value any, path string, used map[string]bool) {
	if name, refers := strings.CutPrefix(as[string](rule["$ref"]), "#/definitions/"); refers {
		definitions := as[map[string]any](root["definitions"])
		useFields(root, as[map[string]any](definitions[name]), value, name, used)
	}
	var inner []any
	switch v := value.(type) {
	case []any:
		inner = v
	case map[string]any:
		properties, _ := rule["properties"].(map[string]any)
		for key, below := range v {
			if rule, known := properties[key].(map[string]any); known {
				used[path+"."+key] = true
				useFields(root, rule, below, path+"."+key, used)
			} else {
				inner = append(inner, below)
			}
		}
	}
	same, of := partsOf(rule)
	for _, below := range same {
		useFields(root, below, value, path, used)
	}
	for _, below := range of {
		for _, v := range inner {
			useFields(root, below, v, path, used)
		}
	}
}

// partsOf returns the alternatives of a rule, and its rules for items and other members.
func partsOf(rule map[string]any) (same, inner []map[string]any) {
	for _, one := range as[[]any](rule["oneOf"]) {
		same = append(same, as[map[string]any](one))
	}
	for _, word := range []string{"items", "additionalProperties"} {
		if part, is := rule[word].(map[string]any); is {
			inner = append(inner, part)
		}
	}
	return same, inner
}
