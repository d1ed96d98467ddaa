package form_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

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
