package main

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lynqctl/lynqctl/internal/command"
	"github.com/lynqctl/lynqctl/test/chartbin"
	"github.com/lynqctl/lynqctl/test/dbtest"
)

// The exit codes that tests expect.
const (
	exitFailed      = 1
	exitBadInput    = 2
	exitInterrupted = 130
)

// servers start when a script asks for them, and withServers stops them.
var servers dbtest.Servers

// helper is built when a script asks for it, and withServers removes it.
var helper chartbin.Program

// TestMain makes the test binary act as lynqctl if a script calls it by that name.
func TestMain(m *testing.M) {
	testscript.Main(withServers{m}, map[string]func(){"lynqctl": main, "kubectl-lynq": main, "lynqctl-at": mainAt})
}

// mainAt is lynqctl with a clock that always shows the time of its first argument.
func mainAt() {
	at, err := time.Parse(time.RFC3339, os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitBadInput)
	}
	os.Args = append([]string{"lynqctl"}, os.Args[2:]...)
	os.Exit(command.ProcessAt(func() time.Time { return at }))
}

// withServers runs the tests, and then stops the servers that they started.
type withServers struct{ m *testing.M }

// Run implements testscript.TestingM.
func (w withServers) Run() int {
	// With the race detector, each lynqctl would sleep for a second before it ends.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := w.m.Run()
	if err := errors.Join(servers.Stop(), helper.Remove()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}
