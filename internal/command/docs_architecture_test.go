package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRecipes wants each file of a recipe to have the name beside it.
func TestRecipes(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(sourceTree, "docs", "contributing.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, recipes, _ := strings.Cut(string(page), "\n## Recipes\n")
	recipes, _, _ = strings.Cut(recipes, "\n## ")
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `([^`]+)`: ").FindAllStringSubmatch(recipes, -1)
	if lines := strings.Count(recipes, "\n| `"); len(rows) != lines || strings.Count(recipes, "| file | change |") != 7 {
		t.Errorf("the recipes have %d rows, and %d of them name a file and what to find there", lines, len(rows))
	}
	for _, row := range rows {
		text, err := os.ReadFile(filepath.Join(sourceTree, filepath.FromSlash(row[1])))
		if err != nil {
			t.Error(err)
			continue
		}
		if !regexp.MustCompile(`\b` + regexp.QuoteMeta(row[2]) + `\b`).Match(text) {
			t.Errorf("%s has no %s", row[1], row[2])
		}
	}
}

// TestSitePages wants the site to have each page in a group, or its build fails.
func TestSitePages(t *testing.T) {
	groups, err := os.ReadFile(filepath.Join(sourceTree, "site", "pages.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(sourceTree, "docs", "*.md"))
	if err != nil || len(pages) < 30 {
		t.Fatalf("pages are %v: that is not all (%v)", pages, err)
	}
	for _, page := range pages {
		if name := strings.TrimSuffix(filepath.Base(page), ".md"); !strings.Contains(string(groups), "'"+name+"'") {
			t.Errorf("site/pages.mjs has no group for docs/%s.md", name)
		}
	}
}
