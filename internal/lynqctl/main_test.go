package lynqctl

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary be lynqctl, where examples of pages call it so.
func TestMain(m *testing.M) {
	process := func() { os.Exit(Process()) }
	testscript.Main(m, map[string]func(){"lynqctl": process, "kubectl-lynq": process})
}
