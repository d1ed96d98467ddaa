//go:build !linux

package e2e_test

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// answered is for Linux, whose terminals the tests know how to make.
func answered(_ *testscript.TestScript, t *testing.T, _, _ string) (shown string, code int) {
	t.Skip("no terminal can be made here")
	return "", 0
}
