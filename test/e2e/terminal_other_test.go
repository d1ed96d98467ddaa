//go:build !linux

package e2e_test

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lynqctl/lynqctl/internal/dbtest"
)

// answered is for Linux, whose terminals the tests know how to make.
func answered(_ *testscript.TestScript, t *testing.T, _, _ string) (shown string, code int) {
	dbtest.Missing(t, "no terminal can be made here")
	return "", 0
}
