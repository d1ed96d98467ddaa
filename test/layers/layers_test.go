package layers

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "github.com/lynqctl/lynqctl/"
	root   = "../.."
)

// Imports by package, both relative to the module or, for a library, with its whole path.
type imports map[string][]string

// row is a line of a table: the names in its first cell, and its second cell with the names
// in that.
type row struct {
	names, others []string
	text          string
}

// TestLayers wants each package to import only its own layer and those below.
func TestLayers(t *testing.T) {
	all, layers := read(t), table(t, "| packages, from the top down |")
	io := regexp.MustCompile(`^(os(/.*)?|net/http|database/sql|syscall)$`)
	for name, imported := range all {
		mine := rowOf(layers, name)
		if mine < 0 {
			t.Errorf("docs/architecture.md has no layer for %s/", name)
			continue
		}
		for _, other := range imported {
			theirs := rowOf(layers, other)
			switch {
			case strings.HasSuffix(layers[mine].text, "Pure") && io.MatchString(other):
				t.Errorf("%s imports %s, and its layer is pure", name, other)
			case !ours(other):
			case strings.HasPrefix(name, "pkg/") && strings.HasPrefix(other, "internal/"):
				t.Errorf("%s imports %s: other programs can't import pkg/ then", name, other)
			case theirs < 0:
				t.Errorf("%s imports %s, which has no layer", name, other)
			case theirs < mine:
				t.Errorf("%s imports %s of a higher layer", name, other)
			case theirs == mine && strings.Contains(layers[mine].text, "side by side"):
				t.Errorf("%s imports %s, which stands beside it", name, other)
			}
		}
	}
	for _, l := range layers {
		for _, name := range l.names {
			if !slices.ContainsFunc(packages(all), func(p string) bool { return covers(name, p) > 0 }) {
				t.Errorf("docs/architecture.md has a layer for %s, which is no package", name)
			}
		}
	}
}

// TestLibraries wants each library to be imported where the page says, and nowhere else.
func TestLibraries(t *testing.T) {
	all, libraries := read(t), table(t, "| library |")
	used := map[int]bool{}
	for name, imported := range all {
		for _, library := range imported {
			i := rowOf(libraries, library)
			first, _, _ := strings.Cut(library, "/")
			if ours(library) || i < 0 && !strings.Contains(first, ".") {
				continue
			}
			if i < 0 {
				t.Errorf("%s imports %s, which docs/architecture.md doesn't list", name, library)
				continue
			}
			used[i] = true
			if !permits(libraries[i].others, name) {
				t.Errorf("%s imports %s: docs/architecture.md permits that to others", name, library)
			}
		}
	}
	for i, l := range libraries {
		if !used[i] {
			t.Errorf("no package imports %v", l.names)
		}
	}
}

// TestTestsStandApart wants the product to import no code of tests, and the model of
// test/robust to share no code with lynqctl, or they could share a mistake.
func TestTestsStandApart(t *testing.T) {
	for name, imported := range read(t) {
		for _, other := range imported {
			if strings.HasPrefix(other, "test/") {
				t.Errorf("%s imports %s, which is for tests", name, other)
			}
		}
	}
	model := files(t, "test/robust/model", func(string) bool { return true })["test/robust/model"]
	if len(model) < 5 {
		t.Errorf("the model imports %v: that is not all", model)
	}
	for _, other := range model {
		if other != "test/robust/model" && (ours(other) || strings.Contains(other, ".")) {
			t.Errorf("the model imports %s", other)
		}
	}
}

// TestLynqctlIsSmall wants the large libraries in lynqctl-chart alone. They would make lynqctl
// a third larger, and slower at the start.
func TestLynqctlIsSmall(t *testing.T) {
	large := regexp.MustCompile(`(?m)^(helm\.sh/.*|oras\.land/.*|sigs\.k8s\.io/kustomize/api/.*)$`)
	deps := func(program string) []byte {
		list := exec.Command("go", "list", "-deps", "./cmd/"+program)
		list.Dir = root
		out, err := list.Output()
		if err != nil {
			t.Fatalf("go list of %s: %v", program, err)
		}
		return out
	}
	if found := large.FindAllString(string(deps("lynqctl")), -1); len(found) > 0 {
		t.Errorf("lynqctl has %v", found)
	}
	if large.FindString(string(deps("lynqctl-chart"))) == "" {
		t.Error("lynqctl-chart has no large library: the test looks for others")
	}
}

func ours(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	return slices.Contains([]string{"cmd", "internal", "pkg", "test"}, top)
}

func packages(all imports) []string {
	var names []string
	for name := range all {
		names = append(names, name)
	}
	return names
}

// rowOf returns the row with the most exact name, or -1.
func rowOf(rows []row, name string) int {
	best, found := 0, -1
	for i, r := range rows {
		for _, pattern := range r.names {
			if n := covers(pattern, name); n > best {
				best, found = n, i
			}
		}
	}
	return found
}

// covers returns how exactly a name of a table names an import, or 0 if it doesn't.
func covers(pattern, name string) int {
	folder, below := strings.CutSuffix(pattern, "/*/")
	switch {
	case below && strings.HasPrefix(name, folder+"/"):
		return len(folder)
	case strings.TrimSuffix(pattern, "/") == name:
		return len(pattern) + 1
	case !ours(pattern) && strings.HasPrefix(name, strings.TrimSuffix(pattern, "/")+"/"):
		return len(pattern)
	}
	return 0
}

// permits reports whether a cell names a package. Names after "but not" are exceptions.
func permits(others []string, name string) bool {
	best, permitted, not := 0, false, false
	for _, pattern := range others {
		if pattern == "not" {
			not = true
		} else if n := covers(pattern, name); n > best {
			best, permitted = n, !not
		}
	}
	return permitted
}

// table reads a table of docs/architecture.md.
func table(t *testing.T, header string) []row {
	t.Helper()
	page, err := os.ReadFile(path.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, body, found := strings.Cut(string(page), "\n"+header)
	body, _, _ = strings.Cut(body, "\n\n")
	var rows []row
	for _, line := range strings.Split(body, "\n")[1:] {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 2 {
			continue
		}
		rows = append(rows, row{names: namesIn(cells[0]), others: namesIn(cells[1]), text: cells[1]})
	}
	if !found || len(rows) < 15 {
		t.Fatalf("the table %q has %d rows: that is not all", header, len(rows))
	}
	return rows
}

// namesIn returns the names in a cell, with "not" before exceptions.
func namesIn(cell string) []string {
	var names []string
	for _, word := range strings.Fields(cell) {
		if name := strings.Trim(word, ","); strings.HasPrefix(name, "`") {
			names = append(names, strings.Trim(name, "`"))
		} else if name == "not" {
			names = append(names, name)
		}
	}
	return names
}

// read returns the imports of the product.
func read(t *testing.T) imports {
	t.Helper()
	all := imports{}
	for _, top := range []string{"cmd", "internal", "pkg"} {
		for name, imported := range files(t, top, func(file string) bool { return !strings.HasSuffix(file, "_test.go") }) {
			all[name] = imported
		}
	}
	if len(all) < 50 {
		t.Fatalf("packages are %v: that is not all", packages(all))
	}
	return all
}

// files parses the imports of the files below a folder, for each operating system.
func files(t *testing.T, top string, wanted func(file string) bool) imports {
	t.Helper()
	all := imports{}
	tree := os.DirFS(root)
	err := fs.WalkDir(tree, top, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if d.IsDir() || path.Ext(file) != ".go" || !wanted(file) {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path.Join(root, file), nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		name := path.Dir(file)
		if all[name] == nil {
			all[name] = []string{} // a package may import nothing
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if imported = strings.TrimPrefix(imported, module); !slices.Contains(all[name], imported) {
				all[name] = append(all[name], imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
