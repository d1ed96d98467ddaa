package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// tableRows returns the cells of a page's tables, by each name in backticks in a row's
// first cell.
func tableRows(t *testing.T, page string) map[string][][]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	name, rows := regexp.MustCompile("`([^`]+)`"), map[string][][]string{}
	for line := range strings.Lines(string(content)) {
		if cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | "); strings.HasPrefix(line, "|") && len(cells) > 1 {
			for _, match := range name.FindAllStringSubmatch(cells[0], -1) {
				rows[match[1]] = append(rows[match[1]], cells)
			}
		}
	}
	return rows
}

// TestDocsPolicies wants docs/forms.md to have each policy with its default, its values and
// its annotation.
func TestDocsPolicies(t *testing.T) {
	rows := tableRows(t, "forms.md")
	for _, f := range lynq.Policies() {
		says := func(cell int, words ...string) bool {
			return slices.ContainsFunc(rows[f.Field], func(cells []string) bool {
				return !slices.ContainsFunc(words, func(word string) bool { return len(cells) <= cell || !strings.Contains(cells[cell], "`"+word) })
			})
		}
		values := slices.DeleteFunc(slices.Clone(f.Values), func(value string) bool { return value == f.Default })
		switch {
		case len(rows[f.Field]) == 0:
			t.Errorf("docs/forms.md has no row for %s", f.Field)
		case f.Default != "" && !says(1, f.Default):
			t.Errorf("docs/forms.md does not have the default of %s, %s", f.Field, f.Default)
		case !says(2, values...):
			t.Errorf("docs/forms.md does not have all values of %s: %s", f.Field, values)
		case f.Annotation != "" && !says(1, f.Annotation):
			t.Errorf("docs/forms.md does not have the annotation for %s, %s", f.Field, f.Annotation)
		}
	}
}

// TestDocsPoliciesOfTrees wants docs/gitops-policies.md to say what a tree for Argo CD or
// Flux makes of each policy, and of each word except the default.
func TestDocsPoliciesOfTrees(t *testing.T) {
	names := slices.Collect(maps.Keys(tableRows(t, "gitops-policies.md")))
	for _, f := range lynq.Policies() {
		if !slices.ContainsFunc(names, func(name string) bool { return name == f.Field || strings.HasPrefix(name, f.Field+":") }) {
			t.Errorf("docs/gitops-policies.md has no row for %s", f.Field)
		}
		for _, value := range f.Values {
			if value != f.Default && !slices.Contains(names, f.Field+": "+value) {
				t.Errorf("docs/gitops-policies.md has no row for %s: %s", f.Field, value)
			}
		}
	}
}
