package recordings

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/test/doctest"
)

var update = flag.Bool("update", false, "write docs/recordings")

const (
	root = "../.."
	dir  = root + "/docs/recordings"
)

// TestRecordings wants each recording in the tree to match its block, and pages to show it.
func TestRecordings(t *testing.T) {
	pages, err := doctest.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Of(pages)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, r := range all {
		for _, l := range r.lines() {
			if n := utf8.RuneCountInString(l.text); n > MostColumns && r.comment == nil {
				t.Errorf("recording %s has a line of %d columns, and %d fit a page: %s", r.Name, n, MostColumns, l.text)
			}
		}
		for _, theme := range Themes() {
			want[r.Name+"-"+theme.Name+".svg"] = r.SVG(theme)
		}
	}
	addPictures(t, want)
	if len(want) < 20 {
		t.Errorf("%d recordings are too few: pages lost some", len(want))
	}
	if *update {
		write(t, want)
	}
	got := map[string]string{}
	files, err := filepath.Glob(dir + "/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got[filepath.Base(file)] = string(text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/recordings isn't what the console blocks and pictures give ('make recordings' writes it; -blocks +files):\n%s", diff)
	}
	for name := range want {
		if !slices.ContainsFunc(pages, func(p *doctest.Page) bool { return shows(p, name) }) {
			t.Errorf("no page shows docs/recordings/%s", name)
		}
	}
}

// addPictures adds the files of the pictures and of the chart. The chart takes its numbers
// from its page.
func addPictures(t *testing.T, want map[string]string) {
	t.Helper()
	page, err := os.ReadFile(root + "/docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	const rows = "10 000"
	bars, err := Bars(string(page), rows)
	if err != nil || len(bars) < 4 {
		t.Fatalf("bars are %v: that is not all (%v)", bars, err)
	}
	for _, theme := range Themes() {
		for _, p := range Pictures() {
			want[p.Name+"-"+theme.Name+".svg"] = p.SVG(theme)
		}
		want["rendering-"+theme.Name+".svg"] = Chart("Seconds to render "+rows+" tenants with 50 000 objects", bars, theme)
	}
}

// write replaces the folder's files by these.
func write(t *testing.T, files map[string]string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func shows(p *doctest.Page, name string) bool {
	return slices.ContainsFunc(p.Paragraphs, func(q doctest.Paragraph) bool { return strings.Contains(q.Text, "recordings/"+name+`"`) })
}

// TestRecordingsRefused wants a recording without a matching block to be refused.
func TestRecordingsRefused(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"no block":      {"<!-- recording a\nx\n-->\n", `p.md:1: recording a: no console block comes after it (put it above the block with "x")`},
		"other command": {"<!-- recording a\nx\n-->\n§§§console\n$ y\n§§§\n", `p.md:1: recording a: the block at line 4 has no command "x" (write it as it stands there)`},
		"left out":      {"<!-- recording a\nx\n-->\n§§§console\n$ x\n...\n§§§\n", `p.md:1: recording a: the block at line 4 has no command "x" (write it as it stands there)`},
		"twice":         {"<!-- recording a\nx\n-->\n<!-- recording a\nx\n-->\n§§§console\n$ x\n§§§\n", `p.md:4: recording a: another recording has this name (choose a new one)`},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := doctest.Parse("p.md", strings.ReplaceAll(test.text, "§", "`"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Of([]*doctest.Page{p}); err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// TestSpans wants texts of rows escaped, and the colours of lynqctl.
func TestSpans(t *testing.T) {
	for text, want := range map[string]string{
		"a <b> & c":                       "a &lt;b&gt; &amp; c",
		"+  plan: gold":                   `<tspan class="g">+  plan: gold</tspan>`,
		"  - orphan   A shop/b   why":     `  <tspan class="w">- orphan</tspan>   A shop/b   why`,
		"a-web  Kind shop/a  update: x":   `<tspan class="b">a-web</tspan>  Kind shop/a  <tspan class="w">update</tspan>: x`,
		"a-web  Kind shop/a  deleted (x)": `<tspan class="b">a-web</tspan>  Kind shop/a  <tspan class="g">deleted</tspan> (x)`,
	} {
		t.Run(text, func(t *testing.T) {
			if got := (line{text: text}).spans(); got != want {
				t.Errorf("%s: got %s, want %s", text, got, want)
			}
		})
	}
}

// TestParts checks that parts reads a comment as GitHub shows it. It folds the details that the
// page leaves out, and keeps the rows of tables.
func TestParts(t *testing.T) {
	all, err := parts("### A\n\n- **b**\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n<details><summary>s</summary>\n...\n</details>\n\n<details><summary>t</summary>\n\n```diff\n+u\n```\n\n</details>\nend\n")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range all {
		got = append(got, strings.Join(append([]string{[]string{"text", "heading", "item", "table", "code", "open", "folded"}[p.kind], p.text}, p.lines...), " "))
	}
	want := []string{"heading A", "item **b**", "table  | x | y | | 1 | 2 |", "folded s", "open t", "code  +u", "text end"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for text, want := range map[string]string{"<table>\n": `a comment with "<table>" can't be drawn (teach test/recordings to)`, "\n": "the comment has no text"} {
		t.Run(text, func(t *testing.T) {
			if _, err := parts(text); err == nil || err.Error() != want {
				t.Errorf("%q: got %v, want %s", text, err, want)
			}
		})
	}
}

// TestWrapped wants styles, escapes and line breaks of a paragraph.
func TestWrapped(t *testing.T) {
	for text, want := range map[string][]string{
		"**a b**: `c` d":               {`<tspan class="b">a</tspan> <tspan class="b">b</tspan>: <tspan class="c">c</tspan> d`},
		`a\_b &#64;c &lt;d\| <b>e</b>`: {`a_b @c &lt;d| <tspan class="b">e</tspan>`},
		"aaaaa bbbbb ccccc":            {"aaaaa bbbbb", "ccccc"},
	} {
		t.Run(text, func(t *testing.T) {
			if diff := cmp.Diff(want, wrapped(words(text), 100)); diff != "" {
				t.Errorf("%s: -want +got:\n%s", text, diff)
			}
		})
	}
}
