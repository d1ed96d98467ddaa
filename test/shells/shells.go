// Package shells asks real shells what they offer for the rest of a command line.
//
// A line flows in, and the shell's offers flow out. For each shell, this folder has a
// script that completes the line as after Tab. The package never knows the right offers.
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

	"github.com/lynqctl/lynqctl/test/dbtest"
)

//go:embed complete.*
var scripts embed.FS

// Shells returns the names of the supported shells.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

// bashCompletion is the file on which completion scripts for bash depend.
const bashCompletion = "/usr/share/bash-completion/bash_completion"

// Shell is a shell that tests can ask.
type Shell struct {
	name, script string
	dir          string
	env          []string
}

// New returns a shell without a person's settings. If it isn't installed, New skips or
// fails the test.
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

// offers returns what the shell offers for a line of a program, sorted. An offer replaces
// the last word, or its part after "=".
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
		offer, _, _ = strings.Cut(strings.TrimSuffix(offer, "\n"), "\t") // the rest is the description
		if offer = strings.TrimPrefix(offer, flag); offer != "" {
			offers = append(offers, offer)
		}
	}
	slices.Sort(offers)
	return slices.Compact(offers)
}

// arguments make the shell run its script without reading settings.
func (s *Shell) arguments(program, line string) []string {
	options := map[string][]string{"bash": {"--norc"}, "zsh": {"-f"}, "fish": {"--no-config"}}
	return append(options[s.name], s.script, program, line)
}
