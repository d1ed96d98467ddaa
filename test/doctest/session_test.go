package doctest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/test/doctest"
)

const page = `# Page

<!-- session: local in examples/a -->
<!-- before
echo shop >> rows.txt
-->

§§§txt file=sub/more.txt
of the crm
§§§

§§§console
$ cat rows.txt sub/more.txt
old
$ false
$ echo $?
7
$ for i in 1 2; do
>   echo $i
> done
1
2
§§§
`

// parsed returns a page, in which § stands for a backtick.
func parsed(t *testing.T, text string) *doctest.Page {
	t.Helper()
	p, err := doctest.Parse("docs/page.md", strings.ReplaceAll(text, "§", "`"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// only returns the only session of a page.
func only(t *testing.T, text string) *doctest.Session {
	t.Helper()
	sessions, err := parsed(t, text).Sessions()
	if err != nil {
		t.Fatal(err)
	}
	if len(sessions) != 1 {
		t.Fatalf("%d sessions", len(sessions))
	}
	return sessions[0]
}

// TestRun wants a session to have its own folder, files and names, and to run everything in
// order.
func TestRun(t *testing.T) {
	place := doctest.Place{
		Root:  tree(t, map[string]string{"examples/a/rows.txt": "a row\n"}),
		Dir:   t.TempDir(),
		Names: map[string]string{"shop": "s123", "crm": "h01"},
		Noise: func(line string) bool { return strings.HasPrefix(line, "a row") },
	}
	ran, err := only(t, page).Run(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range ran {
		got = append(got, r.Got)
		if r.Failed != "" {
			t.Errorf("%s: %s", r.Command, r.Failed)
		}
	}
	if diff := cmp.Diff([]string{"shop\nof the crm\n", "", "1\n", "1\n2\n"}, got); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{"rows.txt": "a row\ns123\n", "sub/more.txt": "of the h01\n"} {
		t.Run(name, func(t *testing.T) {
			if text, err := os.ReadFile(filepath.Join(place.Dir, name)); err != nil || string(text) != want {
				t.Errorf("%s has %q, want %q (%v)", name, text, want, err)
			}
		})
	}
}

// TestReplace wants -update to write the new outputs into a page, and to keep those that
// are alike.
func TestReplace(t *testing.T) {
	p := parsed(t, page)
	b := p.Blocks[len(p.Blocks)-1]
	examples, err := b.Examples()
	if err != nil {
		t.Fatal(err)
	}
	text := b.Rewrite(examples, []string{"new\n", "", "1\n", "1\n2\n"})
	got := doctest.Replace(strings.ReplaceAll(page, "§", "`"), p.Blocks, map[int]string{b.Line: text})
	want := strings.NewReplacer("§", "`", "old\n", "new\n\n", "7\n", "1\n\n").Replace(page)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestHiddenConsole wants a console block in a comment to be one as any other.
func TestHiddenConsole(t *testing.T) {
	const text = "<!-- console\n$ echo a\nold\n\n| b |\n-->\n\nend\n"
	p := parsed(t, text)
	b := p.Blocks[0]
	examples, err := b.Examples()
	if err != nil || len(examples) != 1 || examples[0].Line != 2 || examples[0].Command != "echo a" || examples[0].Want != "old\n\n| b |\n" {
		t.Fatalf("%+v %v", examples, err)
	}
	got := doctest.Replace(text, p.Blocks, map[int]string{b.Line: b.Rewrite(examples, []string{"a\n"})})
	if want := "<!-- console\n$ echo a\na\n-->\n\nend\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSessionsRefuse(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"an example of no session": {"a\n\n§§§console\n$ a\n§§§\n", "docs/page.md:3: this belongs to no session "},
		"a file of no session":     {"§§§sh file=a\n§§§\n", "docs/page.md:1: this belongs to no session "},
		"commands of no session":   {"<!-- before\na\n-->\n", "docs/page.md:1: this belongs to no session "},
		"an unknown session":       {"<!-- session: remote -->\n", "docs/page.md:1: a session is local or cluster"},
		"a session of two folders": {"<!-- session: local in a b -->\n", "docs/page.md:1: a session is local or cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parsed(t, test.text).Sessions()
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	const local = "<!-- session: local -->\n"
	for name, test := range map[string]struct{ text, failed, err string }{
		"a command that fails":        {text: local + "§§§console\n$ (exit 3)\n§§§\n", failed: `exit code 3, and no "$ echo $?" after it`},
		"preparations that fail":      {text: local + "<!-- before\nfalse\necho on\n-->\n", err: "docs/page.md:2: exit code 1 of\nfalse"},
		"no command":                  {text: local + "§§§console\nlynqctl\n§§§\n", err: `3: an example begins with a command behind "$ "`},
		"a file outside":              {text: local + "§§§sh file=../a\n§§§\n", err: `file "../a" is not in the folder of the session`},
		"a folder that doesn't exist": {text: "<!-- session: local in examples/b -->\n", err: "no such file"},
		"a recipe that fails":         {text: local + "§§§yaml file=.gitlab-ci.yml\na: {script: ['false || exit 9', 'lynqctl status']}\n§§§\n", err: "exit code 9 of the recipe"},
	} {
		t.Run(name, func(t *testing.T) {
			ran, err := only(t, test.text).Run(t.Context(), doctest.Place{Root: t.TempDir(), Dir: t.TempDir()})
			if test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("got %v, want %s", err, test.err)
			}
			if test.failed != "" && (err != nil || ran[0].Failed != test.failed) {
				t.Errorf("got %+v, %v, want %s", ran, err, test.failed)
			}
		})
	}
}

func TestRecipe(t *testing.T) {
	const github = "on: [push]\njobs:\n  a:\n    steps:\n      - uses: x\n      - run: curl x\n      - run: |\n          lynqctl status\n          echo on\n      - run: gh pr comment\n"
	const gitlab = "a:\n  before_script: [curl x]\n  script: [code=0, 'lynqctl status || code=$?']\n  after_script: ['curl x']\n"
	for name, test := range map[string]struct{ text, want, err string }{
		"github":     {text: github, want: "lynqctl status\necho on\n"},
		"gitlab":     {text: gitlab, want: "code=0\nlynqctl status || code=$?\n"},
		"template":   {text: ".t: {before_script: [lynqctl version]}\n" + gitlab, want: "code=0\nlynqctl status || code=$?\n"},
		"two jobs":   {text: gitlab + "b: {script: [lynqctl status]}\n", err: "a recipe has one job, not 2"},
		"no YAML":    {text: "a: [", err: "yaml"},
		"no lynqctl": {text: "a: {script: [echo]}", err: "no step of the recipe calls lynqctl"},
		"expression": {text: "a: {script: ['lynqctl status ${{ x }}']}", err: "an expression within a script"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := doctest.Recipe(test.text)
			if test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("got %v, want %s", err, test.err)
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
