package doctest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/test/doctest"
)

// tree returns a source tree with these files.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestLinks(t *testing.T) {
	const index = "[o](docs/other.md) "
	const other = "# The other\n\n## What's `new`? A-b_c\n\n## Twice\n\n## Twice\n\n### [Linked](x.md) text\n"
	for name, test := range map[string]struct{ text, want string }{
		"all is there": {"[a](docs/other.md) [b](docs/other.md#the-other) [c](#here)\n\n# Here\n", ""},
		"slugs":        {"[a](docs/other.md#whats-new-a-b_c) [b](docs/other.md#twice) [c](docs/other.md#twice-1) [d](docs/other.md#linked-text)", ""},
		"old names":    {index + "[a](#old) [b](#older)\n\n<a id=\"old\"></a><a id=\"older\"></a>\n\n## New", ""},
		"no old name":  {index + "[a](#old) `<a id=\"old\"></a>`", `README.md:1: link "#old": README.md has no such heading`},
		"a folder":     {index + "[a](docs)", ""},
		"elsewhere":    {index + "[a](https://example.com/x#y)", ""},
		"code":         {index + "`[a](none.md)`\n\n```sh\n[a](none.md)\n```\n\n<!-- [a](none.md) -->\n", ""},
		"no file":      {"\n[a\nb](docs/none.md) " + index, `README.md:3: link "docs/none.md" leads to no file of the tree`},
		"outside":      {index + "[a](../README.md)", `README.md:1: link "../README.md" leads to no file of the tree`},
		"no heading":   {"[a](docs/other.md#old)", `README.md:1: link "docs/other.md#old": docs/other.md has no such heading`},
		"pictures":     {index + "<picture>\n  <source media=\"x\" srcset=\"x.yaml\">\n  <img alt=\"a\" src=\"none.svg\">\n</picture>", `README.md:3: link "none.svg" leads to no file of the tree`},
		"third":        {"[a](docs/other.md#twice-2)", `README.md:1: link "docs/other.md#twice-2": docs/other.md has no such heading`},
		"not here":     {index + "[a](#here)", `README.md:1: link "#here": README.md has no such heading`},
		"no page":      {index + "[a](x.yaml#b)", `README.md:1: link "x.yaml#b" leads to a heading of what is no page`},
		"no https":     {index + "[a](http://example.com)", `README.md:1: link "http://example.com" is no address with https`},
		"not in index": {"[a](x.yaml)", "docs/other.md:1: README.md does not lead here"},
		"no address":   {index + "[a](https:example)", `README.md:1: link "https:example" is no address with https`},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, map[string]string{"README.md": test.text, "docs/other.md": strings.ReplaceAll(other, "(x.md)", "(other.md)"), "x.yaml": ""})
			pages, err := doctest.Read(root)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range doctest.Links(root, pages) {
				got = append(got, p.String())
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLinksOfFolder wants a page to lead to those in the folder with its name.
func TestLinksOfFolder(t *testing.T) {
	root := tree(t, map[string]string{"README.md": "[a](docs/a.md)", "docs/a.md": "[b](a/b.md)", "docs/a/b.md": "[c](c.md)", "docs/a/c.md": ""})
	pages, err := doctest.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	const want = "docs/a/c.md:1: README.md does not lead here"
	if got := doctest.Links(root, pages); len(got) != 1 || got[0].String() != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// TestRead wants the first page first, however its name sorts.
func TestRead(t *testing.T) {
	pages, err := doctest.Read(tree(t, map[string]string{"README.md": "", "A.md": "", "docs/b.md": "", "examples/x/README.md": "", "examples/x/y.yaml": "", "testdata/z.md": ""}))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range pages {
		got = append(got, p.Path)
	}
	if diff := cmp.Diff([]string{"README.md", "A.md", "docs/b.md", "examples/x/README.md"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"open code":    {"a\n```sh\nx\n", "p.md:2: a block of code that never ends"},
		"open comment": {"<!-- before\nx\n", "p.md:1: a comment that never ends"},
		"unknown word": {"```yaml name=x\n```\n", `p.md:1: "name=x" behind a fence means nothing (it may be file=NAME)`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := doctest.Parse("p.md", test.text)
			if err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestCalls(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		want   []doctest.Call
	}{
		"plain":        {"lynqctl status -A", []doctest.Call{{Line: 1, Args: []string{"status", "-A"}}}},
		"comments":     {"# lynqctl no\nlynqctl status # lynqctl no", []doctest.Call{{Line: 2, Args: []string{"status"}}}},
		"quotes":       {`lynqctl render -f 'a b' --source "csv:\"x" ''`, []doctest.Call{{Line: 1, Args: []string{"render", "-f", "a b", "--source", `csv:"x`, ""}}}},
		"continued":    {"lynqctl diff \\\n  -f x |\n  jq .", []doctest.Call{{Line: 1, Args: []string{"diff", "-f", "x"}}}},
		"environment":  {`A=1 B="x y" lynqctl version`, []doctest.Call{{Line: 1, Args: []string{"version"}}}},
		"plugin":       {"kubectl lynq status\nkubectl get pods", []doctest.Call{{Line: 1, Args: []string{"status"}}}},
		"go run":       {"go run ./cmd/lynqctl render", []doctest.Call{{Line: 1, Args: []string{"render"}}}},
		"path":         {"bin/lynqctl graph", []doctest.Call{{Line: 1, Args: []string{"graph"}}}},
		"redirections": {"lynqctl diff -o name > out.txt 2>&1 < in || code=$?", []doctest.Call{{Line: 1, Args: []string{"diff", "-o", "name"}}}},
		"if":           {"if ! lynqctl status; then lynqctl apply; fi", []doctest.Call{{Line: 1, Args: []string{"status"}}, {Line: 1, Args: []string{"apply"}}}},
		"case":         {"case $c in\n  0) lynqctl version ;;\nesac", []doctest.Call{{Line: 2, Args: []string{"version"}}}},
		"within":       {`x="$(lynqctl status "$(date)")" y`, []doctest.Call{{Line: 1, Args: []string{"status", "X"}}}},
		"xargs":        {"lynqctl orphans list | xargs -n 1 lynqctl orphans prune", []doctest.Call{{Line: 1, Args: []string{"orphans", "list"}}, {Line: 1, Args: []string{"orphans", "prune"}, More: true}}},
		"another word": {"brew install lynqctl\ncd lynqctl/x\nxargs echo", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := doctest.Calls(test.script)
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Error(err, diff)
			}
		})
	}
	if calls, err := doctest.Calls("lynqctl version\n'"); err == nil || !strings.Contains(err.Error(), "script:2:1") {
		t.Errorf("a quote that never ends: %v, %v", calls, err)
	}
}

func TestAlike(t *testing.T) {
	const run = "hub crm: 2 nodes to change: 2 to create\na-web  ConfigMap shop/a  created (New)\nb-web  ConfigMap shop/b  created (New)\n2 nodes: 2 changed; 0.4s\n"
	for name, test := range map[string]struct {
		want, got string
		alike     bool
	}{
		"the same":            {run, run, true},
		"another order":       {run, "hub crm: 2 nodes to change: 2 to create\nb-web  ConfigMap shop/b  created (New)\na-web  ConfigMap shop/a  created (New)\n2 nodes: 2 changed; 12s\n", true},
		"another order of it": {run, "2 nodes: 2 changed; 0.4s\n" + run, false},
		"another word":        {"a  updated (Changed)\n", "a  updated (Drifted)\n", false},
		"another number":      {"3 nodes: 3 changed; 1s\n", "3 nodes: 2 changed; 1s\n", false},
		"ages and widths":     {"NAME   AGE\na      3d4h\n", "NAME          AGE\na             0s\n", true},
		"times":               {"since 2026-03-04T04:06:07Z", "since 2027-03-04T04:06:07.123Z", true},
		"uids":                {"1c85ae56-4af9-4845-8f31-67ea86a76ffe", "2d85ae56-4af9-4845-8f31-67ea86a76ffe", true},
		"pods":                {"a-app-7f46cc84b9-nlghp  x", "a-app-5d9c8b7f6-qqqqq  x", true},
		"a pod like an age":   {"a-app-7f46cc84b9-577ms  x", "a-app-5d9c8b7f6-qqqqq  x", true},
		"not a pod":           {"acme-settings", "acme-config", false},
		"plans":               {"Lynqctl-Plan: 34b20d26b20381cdacbad00171bbff5a\n{\"plan\":\"34b20d26b20381cdacbad00171bbff5a\"}", "Lynqctl-Plan: 0000000000000000000000000000000f\n{\"plan\":\"0000000000000000000000000000000f\"}", true},
		"no plan":             {"Lynqctl-Plan: 34b20d26b20381cdacbad00171bbff5a", "Lynqctl-Plan: none", false},
		"left out":            {"a\n...\nd", "a\nb\nc\nd", true},
		"nothing left out":    {"a\n...\nd", "a\nd", true},
		"left out, and wrong": {"a\n...\nd", "a\nb\nc", false},
		"one line more":       {"a", "a\nb", false},
		"a slow machine":      {"a\nb", "a\nwaiting for 2 objects: x; y\nb", true},
		"nothing":             {"", "\n", true},
		"something":           {"", "a\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := doctest.Alike(test.want, test.got); got != test.alike {
				t.Errorf("alike: %v, want %v", got, test.alike)
			}
		})
	}
}
