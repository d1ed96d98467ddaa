package form_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

const schemas = "../../schemas"

// TestSchemas checks that the schemas for editors refuse exactly what Load refuses. It
// changes complete documents in every place, and gives both each result.
func TestSchemas(t *testing.T) {
	archive := "testdata/schema.yaml"
	content, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]map[string]any{}
	for _, name := range []string{"lynq", "lynqhub", "lynqform"} {
		files[name] = readSchema(t, name)
	}
	both, hubs, forms := schema{t, files, "lynq"}, schema{t, files, "lynqhub"}, schema{t, files, "lynqform"}
	tried := map[bool]int{}
	for text := range strings.SplitSeq(string(content), "\n---\n") {
		document := decode(t, text)
		of := hubs
		if document["kind"] == wellknown.KindForm {
			of = forms
		}
		for _, m := range append(mutations(document), mutation{"as it is", document}) {
			problems := loaded(t, m.document)
			wrong := of.check(m.document)
			if (problems == "") != (wrong == "") {
				t.Errorf("%s: Load says %q, the schema %q", m.what, problems, wrong)
			}
			if m.what == "as it is" && problems != "" {
				t.Errorf("%s of kind %v: %v", archive, document["kind"], problems)
			}
			if (both.check(m.document) == "") != (wrong == "") {
				t.Errorf("%s: the schema for both kinds says %q", m.what, both.check(m.document))
			}
			tried[wrong == ""]++
		}
	}
	if tried[true] < 50 || tried[false] < 300 {
		t.Errorf("documents tried: %v; that is too few to tell anything", tried)
	}
}

// loaded returns the errors of Load for a document and, for a form, its hub.
func loaded(t *testing.T, document map[string]any) string {
	t.Helper()
	const hub = `{"apiVersion": "operator.lynq.sh/v1", "kind": "LynqHub", "metadata": {"name": "crm"}, "spec": {"source": {"type": "csv", "csv": {"path": "a.csv"}}, "valueMappings": {"uid": "a", "activate": "b"}}}`
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	stream := string(text)
	if document["kind"] != wellknown.KindHub {
		stream += "\n---\n" + hub
	}
	if _, err := new(form.Memory).LoadHubs(noCharts{}, []string{"-"}, false, strings.NewReader(stream)); err != nil {
		return err.Error()
	}
	return ""
}

// mutation is a document with one change.
type mutation struct {
	what     string
	document map[string]any
}

// mutations returns all changes of a document. Each field is removed, or gets another type
// or a forbidden value. Each mapping gets an extra field. It doesn't change manifests or
// unread fields.
func mutations(document map[string]any) []mutation {
	var all []mutation
	visit(document, nil, func(path []string, value any) {
		if slices.Equal(path, []string{"status"}) || len(path) > 4 && path[3] == "spec" {
			return
		}
		change := func(what string, do func(in map[string]any, key string)) {
			changed := clone(document)
			in := at(changed, path[:len(path)-1])
			do(in, path[len(path)-1])
			all = append(all, mutation{strings.Join(path, ".") + " " + what, changed})
		}
		change("left out", func(in map[string]any, key string) { delete(in, key) })
		if anything(path) {
			return
		}
		inFile := len(path) == 4 && path[1] == "charts" && path[3] == "path" // standard input has no directory
		set := func(to any) {
			change(fmt.Sprintf("= %#v", to), func(in map[string]any, key string) { in[key] = to })
		}
		set([]any{map[string]any{"zzz": 1.0}})
		switch value.(type) {
		case map[string]any:
			change("with one more", func(in map[string]any, key string) { as[map[string]any](in[key])["zzz"] = "zzz" })
		case string:
			set("")
			set(true)
			if !inFile {
				set("Z z")
			}
		case float64:
			for _, n := range []float64{-1, 0, 1, 59, 3601, 65536, math.MaxInt32 + 1, 1.5} {
				set(n)
			}
		case bool:
			set("true")
		}
	})
	top := clone(document)
	top["zzz"] = "zzz"
	return append(all, mutation{"one more", top})
}

// anything reports whether a field accepts any value, because servers add it to metadata.
func anything(path []string) bool {
	return len(path) == 2 && path[0] == "metadata" &&
		!slices.Contains([]string{"name", "namespace", "labels", "annotations", "generation"}, path[1])
}

// visit calls do for each field of all mappings, also in lists.
func visit(value any, path []string, do func(path []string, value any)) {
	switch v := value.(type) {
	case map[string]any:
		for key, child := range v {
			below := append(slices.Clone(path), key)
			do(below, child)
			visit(child, below, do)
		}
	case []any:
		for i, child := range v {
			visit(child, append(slices.Clone(path), fmt.Sprint(i)), do)
		}
	}
}

// at returns the mapping at a path.
func at(document any, path []string) map[string]any {
	for _, step := range path {
		switch v := document.(type) {
		case map[string]any:
			document = v[step]
		case []any:
			var i int
			_, _ = fmt.Sscan(step, &i) // visit wrote it
			document = v[i]
		}
	}
	m, _ := document.(map[string]any)
	return m
}

func clone(document map[string]any) map[string]any {
	text, err := json.Marshal(document)
	if err != nil {
		return nil
	}
	var copied map[string]any
	if json.Unmarshal(text, &copied) != nil {
		return nil
	}
	return copied
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var document map[string]any
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	return document
}

// schema is a JSON schema with the keywords that ours use.
type schema struct {
	t     *testing.T
	files map[string]map[string]any
	name  string
}

func readSchema(t *testing.T, name string) map[string]any {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(schemas, name+".schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, string(content))
}

func (s schema) check(document any) string { return s.valid(s.files[s.name], document, "") }

// valid returns the first violation of a rule, or "". An unknown keyword fails the test,
// because nothing would check it.
func (s schema) valid(rule map[string]any, value any, path string) string {
	for word, arg := range rule {
		wrong := false
		switch word {
		case "$schema", "title", "description", "definitions", "default":
		case "$ref":
			if below := s.ref(as[string](arg), value, path); below != "" {
				return below
			}
		case "oneOf":
			fits := 0
			for _, one := range as[[]any](arg) {
				if s.valid(as[map[string]any](one), value, path) == "" {
					fits++
				}
			}
			wrong = fits != 1
		case "not":
			wrong = s.valid(as[map[string]any](arg), value, path) == ""
		case "type":
			wrong = !isOfType(value, as[string](arg))
		case "enum":
			wrong = !slices.Contains(as[[]any](arg), value)
		case "pattern", "minLength", "maxLength":
			wrong = !stringFits(value, word, arg)
		case "minItems":
			list, isList := value.([]any)
			wrong = isList && float64(len(list)) < as[float64](arg)
		case "uniqueItems":
			list, _ := value.([]any)
			for i, item := range list {
				wrong = wrong || slices.ContainsFunc(list[:i], func(other any) bool { return reflect.DeepEqual(item, other) })
			}
		case "minimum", "maximum":
			n, isNumber := value.(float64)
			wrong = isNumber && (word == "minimum" && n < as[float64](arg) || word == "maximum" && n > as[float64](arg))
		case "items":
			list, _ := value.([]any)
			for i, item := range list {
				if below := s.valid(as[map[string]any](arg), item, fmt.Sprintf("%s[%d]", path, i)); below != "" {
					return below
				}
			}
		case "properties", "required", "additionalProperties", "propertyNames", "minProperties", "maxProperties", "dependencies":
			if m, ok := value.(map[string]any); ok {
				if below := s.members(rule, word, arg, m, path); below != "" {
					return below
				}
			}
		default:
			s.t.Fatalf("%s: the test does not know %q", path, word)
		}
		if wrong {
			return fmt.Sprintf("%s: %s %v", path, word, arg)
		}
	}
	return ""
}

// members checks a mapping against a rule.
func (s schema) members(rule map[string]any, word string, arg any, m map[string]any, path string) string {
	properties, _ := rule["properties"].(map[string]any)
	switch word {
	case "required":
		for _, key := range as[[]any](arg) {
			if _, has := m[as[string](key)]; !has {
				return fmt.Sprintf("%s: %s is missing", path, key)
			}
		}
	case "minProperties":
		if float64(len(m)) < as[float64](arg) {
			return path + ": too few"
		}
	case "maxProperties":
		if float64(len(m)) > as[float64](arg) {
			return path + ": too many"
		}
	}
	for key, value := range m {
		var below map[string]any
		on := value
		_, known := properties[key]
		switch word {
		case "properties":
			below, _ = properties[key].(map[string]any)
		case "dependencies":
			below = as[map[string]any](as[map[string]any](arg)[key])
			on = m
		case "propertyNames":
			below, _ = arg.(map[string]any)
			on = key
		case "additionalProperties":
			if known {
				continue
			}
			if arg == false {
				return fmt.Sprintf("%s: %s is unknown", path, key)
			}
			below, _ = arg.(map[string]any)
		}
		if wrong := s.valid(below, on, path+"."+key); wrong != "" {
			return wrong
		}
	}
	return ""
}

func (s schema) ref(to string, value any, path string) string {
	if name, ok := strings.CutSuffix(to, ".schema.json"); ok {
		return schema{s.t, s.files, name}.valid(s.files[name], value, path)
	}
	definitions, _ := s.files[s.name]["definitions"].(map[string]any)
	rule, ok := definitions[strings.TrimPrefix(to, "#/definitions/")].(map[string]any)
	if !ok {
		s.t.Fatalf("%s: nothing at %s", path, to)
	}
	return s.valid(rule, value, path)
}

// as converts a value to a type, or returns zero. So a broken schema refuses everything,
// and the test fails.
func as[T any](value any) T {
	t, _ := value.(T)
	return t
}

func isOfType(value any, name string) bool {
	switch v := value.(type) {
	case string:
		return name == "string"
	case bool:
		return name == "boolean"
	case float64:
		return name == "integer" && v == math.Trunc(v)
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return false
}

func stringFits(value any, word string, arg any) bool {
	text, ok := value.(string)
	switch {
	case !ok:
		return true
	case word == "pattern":
		return regexp.MustCompile(as[string](arg)).MatchString(text)
	case word == "minLength":
		return float64(len(text)) >= as[float64](arg)
	}
	return float64(len(text)) <= as[float64](arg)
}
