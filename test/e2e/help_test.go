package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lynqctl/lynqctl/test/doctest"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// example CODE COMMAND N [OLD=NEW...] runs an example in the help of a command.
func (s *script) example(ts *testscript.TestScript, args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("usage: example CODE COMMAND N [OLD=NEW...]")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	text, err := doctest.HelpExample(ts, args[1:])
	if err != nil {
		return err
	}
	return mustExit(ts, want, "sh", "-c", text)
}

// atTerminal CODE COMMAND N ANSWER [OLD=NEW...] runs an example on a terminal, and answers
// its question. Afterwards, standard output contains everything that the terminal showed.
func (s *script) atTerminal(ts *testscript.TestScript, args []string) error {
	if len(args) < 4 {
		return fmt.Errorf("usage: atterminal CODE COMMAND N ANSWER [OLD=NEW...]")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	text, err := doctest.HelpExample(ts, append([]string{args[1], args[2]}, args[4:]...))
	if err != nil {
		return err
	}
	shown, code := answered(ts, s.t, text, args[3])
	file := ts.MkAbs("shown")
	if err := os.WriteFile(file, []byte(withoutMoves(shown)), 0o600); err != nil {
		return err
	}
	if err := ts.Exec("cat", file); err != nil {
		return err
	}
	if code != want {
		return fmt.Errorf("exit code %d, want %d", code, want)
	}
	return nil
}

// withoutMoves removes cursor movements and colours from a terminal's output.
func withoutMoves(shown string) string {
	return regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]|\r").ReplaceAllString(shown, "")
}

// interrupts VERB RESOURCE PROGRAM ARGUMENT... runs a program, and interrupts it when the
// next such request comes through the proxy. It must exit with 130.
func (s *script) interrupts(ts *testscript.TestScript, args []string) error {
	if s.proxy == nil || len(args) < 3 {
		return fmt.Errorf("usage, after proxy: interrupts VERB RESOURCE PROGRAM ARGUMENT...")
	}
	pid := ts.MkAbs("pid")
	interrupted, ended := make(chan error, 1), make(chan struct{})
	s.proxy.SetRules(faultproxy.Rule{Verb: args[0], Resource: args[1], Match: s.own, Times: 1, Before: func() {
		interrupted <- interrupt(pid)
		// The answer must not be faster than the signal, so the request waits for it.
		select {
		case <-ended:
		case <-time.After(2 * time.Second):
		}
	}})
	defer s.proxy.SetRules(s.rules...)
	err := mustExit(ts, 130, "sh", append([]string{"-c", `echo $$ >pid; exec "$@"`, "sh"}, args[2:]...)...)
	close(ended)
	if err != nil {
		return err
	}
	return <-interrupted
}

// interrupt interrupts the process whose number is in a file.
func interrupt(file string) error {
	return exec.Command("sh", "-c", `kill -INT "$(cat "$0")"`, file).Run()
}
