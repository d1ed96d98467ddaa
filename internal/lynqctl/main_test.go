package lynqctl

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the test binary act as lynqctl if an example of a page calls it by that
// name.
func TestMain(m *testing.M) {
	process := func() { os.Exit(Process()) }
	testscript.Main(m, map[string]func(){"lynqctl": process, "kubectl-lynq": process})
}
