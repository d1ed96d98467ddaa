//go:build !linux

package e2e_test

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lynqctl/lynqctl/test/dbtest"
)

// answered skips the test, because the tests can create terminals only on Linux.
func answered(_ *testscript.TestScript, t *testing.T, _, _ string) (shown string, code int) {
	dbtest.Missing(t, "no terminal can be made here")
	return "", 0
}
