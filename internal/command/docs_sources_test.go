package command

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/usecase/explain"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
)

// TestDocsSources wants docs/sources.md to have each type of source with its schemes and the
// extensions of its files, and the fields that explain knows. With -update, it adds missing rows.
func TestDocsSources(t *testing.T) {
	path := filepath.Join(sourceTree, "docs", "sources.md")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page, like := string(content), map[endpoint.Block]endpoint.SourceType{}
	for _, k := range endpoint.Kinds() {
		if like[k.Block] == "" {
			like[k.Block] = k.Type
		}
		block, err := explain.Find("hub.spec.source." + string(k.Type))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range block.Fields {
			if k.Block != endpoint.HTTPBlock && !regexp.MustCompile(`\b`+f.Name+`\b`).MatchString(page) { // TestDocsFields has those of APIs
				t.Errorf("%s lacks the field %s of %s", path, f.Name, k.Type)
			}
		}
		begin, names := fmt.Sprintf("| `%s` | ", k.Type), ""
		for _, name := range append(k.Extensions, strings.Split(strings.Join(k.Schemes, ":\n")+":", "\n")...) {
			if !regexp.MustCompile("[\\s`]" + regexp.QuoteMeta(name)).MatchString(page) {
				names += " `" + name + "`"
			}
		}
		if strings.Contains(page, "\n"+begin) && names == "" {
			continue
		}
		t.Errorf("%s lacks the type %s, or names of it:%s", path, k.Type, names)
		table, rest, _ := strings.Cut(page, "\n\n```yaml\n")
		reads := strings.ToLower(k.Reads[:1]) + strings.TrimSuffix(k.Reads[1:], ".")
		page = fmt.Sprintf("%s\n%s%s;%s | as for `%s` |\n\n```yaml\n%s", table, begin, reads, names, like[k.Block], rest)
	}
	if *update && page != string(content) {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
