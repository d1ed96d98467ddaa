// Package shells asks real shells what they offer for the rest of a command line.
//
// A line goes in, and what the shell would offer comes out. Each shell has a script
// here, which has it complete the line as if a person had typed it and pressed Tab.
// What there is to offer, the package does not know.
package shells

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/internal/dbtest"
)

//go:embed complete.*
var scripts embed.FS

// Shells are those that can be asked.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

// bashCompletion is what scripts for bash build on.
const bashCompletion = "/usr/share/bash-completion/bash_completion"

// Shell is a shell that can be asked.
type Shell struct {
	name, script string
	dir          string
	env          []string
}

// New begins one, without anybody's settings. Where it is not installed the test
// ends here.
func New(t testing.TB, name, dir string, env ...string) *Shell {
	t.Helper()
	_, err := exec.LookPath(name)
	if name == "bash" && err == nil {
		_, err = os.Stat(bashCompletion)
	}
	if err != nil {
		dbtest.Missing(t, fmt.Sprintf("%v (Debian: apt install zsh fish bash-completion)", err))
	}
	home := t.TempDir()
	s := &Shell{name: name, script: filepath.Join(home, "complete."+name), dir: dir}
	text, err := scripts.ReadFile(filepath.Base(s.script))
	if err == nil {
		err = os.WriteFile(s.script, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home, "TERM=xterm")
	s.env = append(s.env, env...)
	return s
}

// Want fails the test for each line for which the shell offers something else.
func (s *Shell) Want(t testing.TB, lines map[string][]string) {
	t.Helper()
	for line, want := range lines {
		if diff := cmp.Diff(want, s.offers(t, line)); diff != "" {
			t.Errorf("%q: %s", line, diff)
		}
	}
}

// offers are what the shell offers for a line of a program, sorted: words in the
// place of the last one, or of what is behind a "=" in it.
func (s *Shell) offers(t testing.TB, line string) []string {
	t.Helper()
	program, _, _ := strings.Cut(line, " ")
	cmd := exec.CommandContext(t.Context(), s.name, s.arguments(program, line)...)
	cmd.Dir, cmd.Env = s.dir, s.env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("%s: %q: %v %s", s.name, line, err, stderr.String())
	}
	flag := line[strings.LastIndexByte(line, ' ')+1:]
	flag = flag[:strings.IndexByte(flag, '=')+1]
	offers := []string{}
	for offer := range strings.Lines(string(out)) {
		offer, _, _ = strings.Cut(strings.TrimSuffix(offer, "\n"), "\t") // behind it is what it means
		if offer = strings.TrimPrefix(offer, flag); offer != "" {
			offers = append(offers, offer)
		}
	}
	slices.Sort(offers)
	return slices.Compact(offers)
}

// arguments have the shell run its script, and read no settings.
func (s *Shell) arguments(program, line string) []string {
	options := map[string][]string{"bash": {"--norc"}, "zsh": {"-f"}, "fish": {"--no-config"}}
	return append(options[s.name], s.script, program, line)
}
