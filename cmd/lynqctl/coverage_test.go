package main

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/internal/doctest"
)

// exitCodes are those that each command can end with, as its help says. Groups of
// commands show help, or refuse what is none of theirs.
func exitCodes(command string) []int {
	switch command {
	case "lynqctl graph":
		return []int{exitOK, exitBadInput, exitInterrupted}
	case "lynqctl", "lynqctl version", "lynqctl help", "lynqctl delete", "lynqctl inventory", "lynqctl orphans":
		return []int{exitOK, exitBadInput}
	case "lynqctl completion", "lynqctl completion bash", "lynqctl completion zsh", "lynqctl completion fish", "lynqctl completion powershell":
		return []int{exitOK, exitBadInput}
	case "lynqctl orphans list":
		return []int{exitOK, exitBadInput, exitInterrupted}
	case "lynqctl render":
		return []int{exitOK, exitFailed, exitBadInput, exitRefused, exitChanged, exitInterrupted}
	case "lynqctl init", "lynqctl validate", "lynqctl status", "lynqctl status node", "lynqctl status hub", "lynqctl status form",
		"lynqctl inventory list", "lynqctl inventory show", "lynqctl inventory verify":
		return []int{exitOK, exitFailed, exitBadInput, exitInterrupted}
	}
	return []int{exitOK, exitFailed, exitBadInput, exitRefused, exitInterrupted}
}

// TestCoverage: the scripts show each command's help, use each of its flags, and
// have it end with each of its exit codes.
func TestCoverage(t *testing.T) {
	var seen coverage
	for _, pattern := range []string{"../../testdata/script/*.txtar", "../../test/e2e/testdata/*.txtar", "../../test/e2e/testdata/operator/*.txtar"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no scripts: %v", pattern, err)
		}
		for _, file := range files {
			script, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range scriptCalls(script) {
				if err := seen.see(c); err != nil {
					t.Errorf("%s: %q: %v", filepath.Base(file), c.args, err)
				}
			}
		}
	}
	root := referenceRoot()
	for _, c := range everyCommand(root) {
		name := c.CommandPath()
		if !seen.has(name, "--help") {
			t.Errorf("%s: no script shows its --help", name)
		}
		for _, code := range exitCodes(name) {
			if !seen.has(name, "exit "+strconv.Itoa(code)) {
				t.Errorf("%s: no script has it exit with %d", name, code)
			}
		}
		for _, flag := range flagsOf(c) {
			if !seen.has(name, flag) {
				t.Errorf("%s: no script uses %s", name, flag)
			}
		}
		for i, text := range doctest.HelpExamples(c.UsageString()) {
			if !seen.has(name, fmt.Sprintf("example %d", i+1)) {
				t.Errorf("%s: no script runs example %d of its help:\n%s", name, i+1, text)
			}
		}
	}
	clusterFlagSet().VisitAll(func(f *pflag.Flag) {
		if !seen.has(clusterFlag, "--"+f.Name) {
			t.Errorf("no script of any command uses --%s", f.Name)
		}
	})
}

// flagsOf are the flags of a command but those for the cluster.
func flagsOf(c *cobra.Command) []string {
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	cluster := clusterFlagSet()
	var flags []string
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && !f.Hidden && cluster.Lookup(f.Name) == nil {
			flags = append(flags, "--"+f.Name)
		}
	})
	return flags
}

// coverage is what scripts do with each command: flags that they use, exit codes
// that they want, as "exit 0".
type coverage map[string]map[string]bool

// clusterFlag is the command of flags for the cluster, which are covered by any.
const clusterFlag = "the cluster's flags"

func (s coverage) has(command, what string) bool { return s[command][what] }

func (s *coverage) add(command, what string) {
	if *s == nil {
		*s = coverage{}
	}
	if (*s)[command] == nil {
		(*s)[command] = map[string]bool{}
	}
	(*s)[command][what] = true
}

// see takes note of a call. What a call that is refused says of flags counts for
// nothing, but for those that make it so.
func (s *coverage) see(c call) error {
	root := referenceRoot()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	if completing(c.args) {
		return nil
	}
	cmd, rest, err := root.Find(c.args)
	if err != nil {
		return err
	}
	name := cmd.CommandPath()
	if c.example != "" {
		s.add(name, "example "+c.example)
		return nil
	}
	if c.code != unknownCode {
		s.add(name, "exit "+strconv.Itoa(c.code))
	}
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	if err := cmd.ParseFlags(rest); err != nil && c.code != exitBadInput {
		return err
	}
	if cmd.Name() == "help" {
		if about, _, err := root.Find(cmd.Flags().Args()); err == nil {
			s.add(about.CommandPath(), "--help")
		}
	}
	cluster := clusterFlagSet()
	refused := c.code == exitBadInput
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case cluster.Lookup(f.Name) != nil:
			s.add(clusterFlag, "--"+f.Name)
		case !refused || f.Name == "timeout" || f.Name == "strict": // which make it so
			s.add(name, "--"+f.Name)
		}
	})
	return nil
}

// call is a line of a script that runs the program.
type call struct {
	args []string
	code int // that the script wants
	// example, where it is not "", is the number of the example of the command's
	// help that is run.
	example string
}

// unknownCode is the exit code of a call of which the script wants none, or any
// that is not 0.
const unknownCode = -1

// scriptCalls are the calls of a script, and those in what it has a shell run.
func scriptCalls(script *txtar.Archive) []call {
	var calls []call
	for line := range strings.Lines(string(script.Comment)) {
		calls = append(calls, lineCalls(scriptWords(line))...)
	}
	for _, f := range script.Files {
		if path.Ext(f.Name) == ".sh" {
			calls = append(calls, shellCalls(string(f.Data))...)
		}
	}
	return calls
}

// lineCalls are the calls of a line of a script: see TestScripts, and
// test/e2e/testdata/README.md, for what such lines are.
func lineCalls(words []string) []call {
	if len(words) > 0 && strings.HasPrefix(words[0], "[") {
		words = words[1:] // on some condition
	}
	code := exitOK
	if len(words) > 0 && words[0] == "!" {
		code, words = unknownCode, words[1:]
	}
	if len(words) < 2 {
		return nil
	}
	switch words[0] {
	case "exec":
		words = words[1:]
	case "exits", "example", "atterminal":
		n, err := strconv.Atoi(words[1])
		if err != nil {
			return nil
		}
		if code = n; words[0] != "exits" {
			return []call{{args: strings.Fields(words[2]), code: code, example: words[3]}}
		}
		words = words[2:]
	case "interrupts":
		code, words = exitInterrupted, words[max(slices.Index(words, "lynqctl"), 0):]
	default:
		return nil
	}
	if len(words) == 3 && words[0] == "sh" && words[1] == "-c" {
		return shellCalls(words[2])
	}
	switch {
	case words[0] == "lynqctl", words[0] == "kubectl-lynq":
		return []call{{args: words[1:], code: code}}
	case words[0] == "kubectl" && words[1] == "lynq":
		return []call{{args: words[2:], code: code}}
	}
	return nil
}

// shellCalls are the calls of a shell script. What their exit codes are to be is
// not known.
func shellCalls(text string) []call {
	var calls []call
	for _, c := range doctest.Calls(text) {
		calls = append(calls, call{args: c.Args, code: unknownCode})
	}
	return calls
}

// scriptWords are the words of a line of a testscript. Variables stay as they are.
func scriptWords(line string) []string {
	var words []string
	var word strings.Builder
	begun, quoted := false, false
	end := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\'' && quoted && i+1 < len(line) && line[i+1] == '\'':
			word.WriteByte(c)
			i++
		case c == '\'':
			quoted, begun = !quoted, true
		case quoted:
			word.WriteByte(c)
		case c == '#':
			end()
			return words
		case strings.IndexByte(" \t\r\n", c) >= 0:
			end()
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	end()
	return words
}
