package depgraph_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/form/depgraph"
)

var update = flag.Bool("update", false, "write what the tests got to testdata")

// TestWrite compares graphs with testdata byte by byte.
func TestWrite(t *testing.T) {
	const path = "testdata/graph.txtar"
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	in, err := form.Load([]string{"-"}, false, bytes.NewReader(archive.Files[0].Data))
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []depgraph.Format{depgraph.Text, depgraph.Mermaid, depgraph.DOT} {
		t.Run(string(format), func(t *testing.T) {
			var b strings.Builder
			if format == depgraph.Text {
				b.WriteString(indented(in.Forms))
			} else if err := depgraph.Write(&b, format, in.Forms); err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == string(format) })
			switch {
			case *update && i < 0:
				archive.Files = append(archive.Files, txtar.File{Name: string(format), Data: []byte(b.String())})
			case *update:
				archive.Files[i].Data = []byte(b.String())
			case i < 0:
				t.Errorf("%s has no %s", path, format)
			default:
				if diff := cmp.Diff(string(archive.Files[i].Data), b.String()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", format, diff)
				}
			}
		})
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// indented returns the lines of a tree, indented by depth.
func indented(forms []*form.Form) string {
	var b strings.Builder
	for _, line := range depgraph.Lines(forms) {
		b.WriteString(strings.Repeat("  ", line.Depth) + line.Text + "\n")
	}
	return b.String()
}

// TestWriteOneName checks that namespaces distinguish forms with the same name.
func TestWriteOneName(t *testing.T) {
	forms := []*form.Form{{Name: "web", Namespace: "blue"}, {Name: "db"}, {Name: "web"}, {Name: "web", Namespace: "red"}}
	if diff := cmp.Diff("blue/web\ndb\nweb\nred/web\n", indented(forms)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWriteErrors(t *testing.T) {
	var b strings.Builder
	if err := depgraph.Write(&b, "svg", nil); err == nil || err.Error() != `unknown graph format "svg" (use mermaid or dot)` {
		t.Errorf("unknown format: %v", err)
	}
	if err := depgraph.Write(full{}, depgraph.DOT, nil); !errors.Is(err, errFull) {
		t.Errorf("a writer that fails: %v", err)
	}
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// TestReduce checks that exactly the redundant dependencies are removed.
func TestReduce(t *testing.T) {
	for name, c := range map[string]struct{ needs, want [][]int }{
		"nothing":          {nil, [][]int{}},
		"apart":            {[][]int{nil, nil}, [][]int{nil, nil}},
		"a chain":          {[][]int{nil, {0}, {1}}, [][]int{nil, {0}, {1}}},
		"a shortcut":       {[][]int{nil, {0}, {0, 1}}, [][]int{nil, {0}, {1}}},
		"in any order":     {[][]int{nil, {0}, {1, 0}}, [][]int{nil, {0}, {1}}},
		"a long one":       {[][]int{nil, {0}, {1}, {2}, {3, 0, 1, 2}}, [][]int{nil, {0}, {1}, {2}, {3}}},
		"a diamond":        {[][]int{nil, {0}, {0}, {1, 2}}, [][]int{nil, {0}, {0}, {1, 2}}},
		"across a diamond": {[][]int{nil, {0}, {0}, {0, 1, 2}}, [][]int{nil, {0}, {0}, {1, 2}}},
		"named twice":      {[][]int{nil, {0, 0}}, [][]int{nil, {0}}},
		"two roots":        {[][]int{nil, nil, {0, 1}, {2, 0}}, [][]int{nil, nil, {0, 1}, {2}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, depgraph.Reduce(c.needs, func(int) bool { return false })); diff != "" {
				t.Errorf("%s", diff)
			}
		})
	}
	// Some rows lack the middle resource, so no dependency is redundant.
	want := [][]int{nil, {0}, {0, 1}, {2}}
	if diff := cmp.Diff(want, depgraph.Reduce([][]int{nil, {0}, {0, 1}, {0, 1, 2}}, func(i int) bool { return i == 1 })); diff != "" {
		t.Error(diff)
	}
}
