package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSecurityPage wants every test in docs/security.md to exist. It wants the same of
// scripts in groups in parentheses, and in the last columns of tables. make security runs
// those names, and wouldn't notice a missing one.
func TestSecurityPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testFunctions(t)
	groups := regexp.MustCompile("\\((`[A-Za-z0-9_-]+`,?\\s*)+\\)").FindAllString(string(page), -1)
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(strings.TrimSpace(line), " | "); strings.HasPrefix(line, "| ") {
			groups = append(groups, cells[len(cells)-1])
		}
	}
	name := regexp.MustCompile("`([A-Za-z0-9_-]+)`")
	for _, group := range groups {
		for _, found := range name.FindAllStringSubmatch(group, -1) {
			if !tests[found[1]] && !isScript(found[1]) {
				t.Errorf("there is no test %s: %s", found[1], group)
			}
		}
	}
	if len(groups) < 50 {
		t.Errorf("the page has %d groups of tests: that is not all", len(groups))
	}
}

// testFunctions returns the names of all tests.
func testFunctions(t *testing.T) map[string]bool {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	names := map[string]bool{}
	for _, root := range []string{"../../cmd", "../../internal", "../../pkg", "../../test/e2e"} {
		err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, found := range function.FindAllSubmatch(text, -1) {
				names[string(found[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return names
}

func isScript(name string) bool {
	for _, folder := range []string{"../../testdata/script", "../../test/e2e/testdata", "../../test/e2e/testdata/operator"} {
		if _, err := os.Stat(filepath.Join(folder, name+".txtar")); err == nil {
			return true
		}
	}
	return false
}
