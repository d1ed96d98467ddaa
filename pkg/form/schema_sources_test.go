package form_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// TestSchemaSources compares the types of sources in the schema with the table. With -update,
// it writes them.
func TestSchemaSources(t *testing.T) {
	const variant = `            {
              "type": "object",
              "description": %[1]q,
              "properties": {
                "type": {
                  "enum": [
                    "%[2]s"
                  ]
                },
                "%[2]s": {
                  "$ref": "#/definitions/%[3]s"
                },
                "syncInterval": {
                  "$ref": "#/definitions/syncInterval"
                }
              },
              "required": [
                "type",
                "%[2]s"
              ],
              "additionalProperties": false
            }`
	const begin, end = "\"description\": \"Where the rows are: a type, and the block of that name.\",\n          \"oneOf\": [\n", "\n          ]\n"
	var variants, ports []string
	for _, k := range endpoint.Kinds() {
		variants = append(variants, fmt.Sprintf(variant, k.Reads, k.Type, k.Block))
		if k.Block == endpoint.ServerBlock {
			ports = append(ports, fmt.Sprintf("%d for %s", k.Port, k.Type))
		}
	}
	path := filepath.Join(schemas, "lynqhub.schema.json")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(content), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no list of sources", path)
	}
	want := before + begin + strings.Join(variants, ",\n") + end + after
	want = regexp.MustCompile(`Port of the server \(default [^)]*\)`).ReplaceAllLiteralString(want, "Port of the server (default "+strings.Join(ports, ", ")+")")
	if want == string(content) {
		return
	}
	t.Errorf("%s doesn't have the sources of endpoint.Kinds; go test ./pkg/form -run TestSchemaSources -update writes them", path)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSourceTypes checks that loader and schema take each type of source with the fields of its
// block, and no other field. A misspelled type gets the right one as a suggestion.
func TestSourceTypes(t *testing.T) {
	content, err := os.ReadFile("testdata/schema.yaml")
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[endpoint.Block]map[string]any{} // a hub for each
	for text := range strings.SplitSeq(string(content), "\n---\n") {
		document := decode(t, text)
		kind := endpoint.SourceType(as[string](at(document, []string{"spec", "source"})["type"])).Kind()
		if kind.Block != "" && blocks[kind.Block] == nil {
			blocks[kind.Block] = document
		}
	}
	hubs := schema{t, map[string]map[string]any{"lynqhub": readSchema(t, "lynqhub")}, "lynqhub"}
	for _, k := range endpoint.Kinds() {
		hub := clone(blocks[k.Block])
		source := at(hub, []string{"spec", "source"})
		if source == nil {
			t.Errorf("%s: testdata/schema.yaml has no hub with the block %s", k.Type, k.Block)
			continue
		}
		old, name := as[string](source["type"]), string(k.Type)
		block := as[map[string]any](source[old])
		delete(source, old)
		source["type"], source[name] = name, block
		if problems, wrong := loaded(t, hub), hubs.check(hub); problems != "" || wrong != "" {
			t.Errorf("%s: Load says %q, the schema %q", name, problems, wrong)
		}
		block["zzz"] = "zzz"
		if problems, wrong := loaded(t, hub), hubs.check(hub); !strings.Contains(problems, `unknown field "spec.source.`+name+`.zzz"`) || wrong == "" {
			t.Errorf("%s with another field: Load says %q, the schema %q", name, problems, wrong)
		}
		source["type"] = name + "x"
		if problems := loaded(t, hub); !strings.Contains(problems, fmt.Sprintf("did you mean %q?", name)) {
			t.Errorf("type %sx: Load says %q", name, problems)
		}
	}
}
