package command

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/test/apitest"
	"github.com/lynqctl/lynqctl/test/doctest"
)

const sourceTree = "../.."

// docs returns the pages of the documentation.
func docs(t *testing.T) []*doctest.Page {
	t.Helper()
	pages, err := doctest.Read(sourceTree)
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// TestDocs checks the files, headings, commands, flags and inputs in the documentation.
func TestDocs(t *testing.T) {
	pages := docs(t)
	problems := doctest.Links(sourceTree, pages)
	for _, p := range pages {
		problems = append(problems, wrongCalls(p)...)
		problems = append(problems, wrongFlags(p)...)
		problems = append(problems, wrongBlocks(p)...)
	}
	for _, p := range problems {
		t.Error(p)
	}
}

// TestDocsExamples wants every example without a cluster to print what its page shows.
// test/e2e runs those with a cluster.
func TestDocsExamples(t *testing.T) {
	root, err := filepath.Abs(sourceTree)
	if err != nil {
		t.Fatal(err)
	}
	// An example may call go, whose caches are in the home directory.
	caches, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	dirs := strings.Fields(string(caches))
	env := []string{"KUBECONFIG=", "GOCACHE=" + dirs[0], "GOMODCACHE=" + dirs[1]}
	doctest.RunAll(t, root, docs(t), *update, func(s *doctest.Session) (doctest.Place, bool) {
		place := doctest.Place{Dir: t.TempDir(), Env: env}
		if s.Mentions(apitest.Host) {
			place.Env = append(slices.Clone(env), apitest.Start(t, place.Dir, "t0ken").Env...)
		}
		if !s.Cluster && (s.Mentions("kustomize: ") || s.Mentions("charts:")) {
			place.Env = append(slices.Clone(place.Env), "PATH="+helper.In(t, root)+string(filepath.ListSeparator)+os.Getenv("PATH"))
		}
		return place, !s.Cluster
	})
}

// wrongCalls returns the calls of lynqctl in a page that the program would refuse.
func wrongCalls(p *doctest.Page) []doctest.Problem {
	var problems []doctest.Problem
	check := func(line int, script string) {
		calls, err := doctest.Calls(script)
		if err != nil {
			problems = append(problems, doctest.Problem{Path: p.Path, Line: line, What: err.Error()})
		}
		for _, c := range calls {
			if err := takesCall(c); err != nil {
				problems = append(problems, doctest.Problem{Path: p.Path, Line: line + c.Line - 1, What: fmt.Sprintf("lynqctl %s: %v", strings.Join(c.Args, " "), err)})
			}
		}
	}
	for _, b := range p.Blocks {
		switch b.Lang {
		case "sh", "bash":
			check(b.Line+1, b.Text)
		case "console":
			examples, err := b.Examples()
			if err != nil {
				problems = append(problems, doctest.Problem{Path: p.Path, Line: b.Line, What: err.Error()})
			}
			for _, e := range examples {
				check(e.Line, e.Command)
			}
		}
	}
	for _, c := range p.Code() {
		if strings.HasPrefix(c.Text, "lynqctl ") || strings.HasPrefix(c.Text, "kubectl lynq ") {
			check(c.Line, c.Text)
		}
	}
	return problems
}

// takesCall checks that the command exists, and takes these flags and arguments. It runs
// nothing.
func takesCall(call doctest.Call) error {
	c, args, err := referenceRoot().Find(call.Args)
	if err != nil {
		return err
	}
	if c.HasSubCommands() && len(args) > 0 && !strings.HasPrefix(args[0], "-") && !strings.Contains(args[0], "/") && c.ValidateArgs(args[:1]) != nil {
		return fmt.Errorf("%q has no command %q", c.CommandPath(), args[0])
	}
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	if err := c.ParseFlags(args); err != nil && !errors.Is(err, pflag.ErrHelp) {
		return err
	}
	args = c.Flags().Args()
	if call.More || !c.Runnable() || len(args) == 0 {
		return nil // the rest comes from a variable, or the page only names the command
	}
	return c.ValidateArgs(args)
}

// wrongFlags returns the flags in a page's prose that no command has.
func wrongFlags(p *doctest.Page) []doctest.Problem {
	known := map[string]bool{"--help": true, "--version": true}
	for _, c := range documented(referenceRoot()) {
		c.Flags().VisitAll(func(f *pflag.Flag) { addFlag(known, f) })
		c.PersistentFlags().VisitAll(func(f *pflag.Flag) { addFlag(known, f) })
	}
	flagName := regexp.MustCompile(`^(--[a-z][a-z-]*|-[a-zA-Z])($|[ =/])`)
	var problems []doctest.Problem
	for _, c := range p.Code() {
		if m := flagName.FindStringSubmatch(c.Text); m != nil && !known[m[1]] {
			problems = append(problems, doctest.Problem{Path: p.Path, Line: c.Line, What: fmt.Sprintf("no command has the flag %s (name the program in front of flags of others: `kubectl apply %s`)", m[1], m[1])})
		}
	}
	return problems
}

func addFlag(known map[string]bool, f *pflag.Flag) {
	known["--"+f.Name] = true
	if f.Shorthand != "" {
		known["-"+f.Shorthand] = true
	}
}
