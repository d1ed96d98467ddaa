package command

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lynqctl/lynqctl/test/chartbin"
)

// helper is built when an example needs it, and withHelper removes it.
var helper chartbin.Program

// withHelper runs the tests, and then removes the helper that they built.
type withHelper struct{ m *testing.M }

// Run implements testscript.TestingM.
func (w withHelper) Run() int {
	code := w.m.Run()
	if err := helper.Remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

// TestMain makes the test binary act as lynqctl if an example of a page calls it by that
// name.
func TestMain(m *testing.M) {
	process := func() { os.Exit(Process()) }
	testscript.Main(withHelper{m}, map[string]func(){"lynqctl": process, "kubectl-lynq": process})
}
