package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// docs/events.md tells every action, reason and guard: users see them everywhere.
func TestDocsWords(t *testing.T) {
	page, err := os.ReadFile(sourceTree + "/docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	for file, least := range map[string]int{"pkg/apply/plan.go": 30, "pkg/handover/plan.go": 2} {
		words := planWords(t, sourceTree+"/"+file)
		if len(words) < least {
			t.Errorf("%s has %d words, at least %d were expected: are they elsewhere now?", file, len(words), least)
		}
		for _, word := range words {
			if !strings.Contains(string(page), "`"+word+"`") {
				t.Errorf("docs/events.md does not tell of %q, which %s has", word, file)
			}
		}
	}
}

// planWords are the constants of a file that are actions, reasons or guards.
func planWords(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		kind := spec.Type
		if selector, ok := kind.(*ast.SelectorExpr); ok {
			kind = selector.Sel
		}
		name, _ := kind.(*ast.Ident)
		if name == nil || name.Name != "Action" && name.Name != "Reason" && name.Name != "Guard" {
			return true
		}
		for _, value := range spec.Values {
			if literal, ok := value.(*ast.BasicLit); ok {
				words = append(words, strings.Trim(literal.Value, `"`))
			}
		}
		return true
	})
	return words
}
