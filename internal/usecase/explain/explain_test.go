package explain_test

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/usecase/explain"
)

// TestAll finds every field of both schemas by its path, and wants a type of each.
func TestAll(t *testing.T) {
	found := 0
	var visit func(path string, depth int)
	visit = func(path string, depth int) {
		f, err := explain.Find(path)
		if err != nil {
			t.Fatal(err)
		}
		found++
		for _, below := range f.Fields {
			if below.Type == "" || strings.Contains(below.Type, "array") {
				t.Errorf("%s.%s has type %q", path, below.Name, below.Type)
			}
			if depth < 6 {
				visit(path+"."+below.Name, depth+1)
			}
		}
	}
	for _, root := range explain.Types() {
		visit(root, 0)
	}
	if found < 150 {
		t.Errorf("found %d fields", found)
	}
}

// TestWords wants all words of a field once, also those of alternatives.
func TestWords(t *testing.T) {
	for path, want := range map[string]string{
		"hub.spec.source.type":                 "mysql postgresql sqlite csv json http",
		"form.spec.deployments.adoptionPolicy": "Never IfUnowned Always",
	} {
		t.Run(path, func(t *testing.T) {
			f, err := explain.Find(path)
			if err != nil || strings.Join(f.Values, " ") != want {
				t.Errorf("%s: %+v, %v", path, f, err)
			}
		})
	}
}

func TestFind(t *testing.T) {
	for path, want := range map[string]struct {
		typ, field, fieldType string
		required              bool
	}{
		"form":                        {"object", "spec", "object", true},
		"form.spec":                   {"object", "hubId", "string", true},
		"form.spec.rollout":           {"object", "maxSkew", "integer", false},
		"form.spec.deployments":       {"list of object", "id", "string", true},
		"hub.spec.source":             {"object", "mysql", "object", false},
		"hub.spec.extraValueMappings": {"map", "", "", false},
	} {
		t.Run(path, func(t *testing.T) {
			f, err := explain.Find(path)
			if err != nil {
				t.Errorf("%s: %v", path, err)
				return
			}
			if f.Type != want.typ {
				t.Errorf("%s has type %q, want %q", path, f.Type, want.typ)
			}
			if want.field == "" {
				return
			}
			seen := false
			for _, below := range f.Fields {
				if below.Name == want.field {
					seen = true
					if below.Type != want.fieldType || below.Required != want.required {
						t.Errorf("%s.%s: %+v", path, want.field, below)
					}
				}
			}
			if !seen {
				t.Errorf("%s has no field %s", path, want.field)
			}
		})
	}
	for path, want := range map[string]string{
		"node":              `"node" isn't TYPE or TYPE.FIELD, where TYPE is one of hub, form`,
		"form.spec.rolout":  `form.spec has no field "rolout" (did you mean "rollout"?)`,
		"hub.spec.source.x": `hub.spec.source has no field "x"`,
	} {
		t.Run(path, func(t *testing.T) {
			if _, err := explain.Find(path); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", path, err, want)
			}
		})
	}
}
