package doctest_test

import (
	"os"
	"regexp"
	"testing"
)

// TestReadmeCommands wants the first two commands for a newcomer in the README: one that
// renders, and the one with which CI tests.
func TestReadmeCommands(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	ci, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^time make test$`).Match(ci) {
		t.Error(".ci/run doesn't run make test")
	}
	for _, command := range []string{"```sh\nmake test\n```", "\n$ go run ./cmd/lynqctl render "} {
		t.Run(command, func(t *testing.T) {
			if !regexp.MustCompile(regexp.QuoteMeta(command)).Match(readme) {
				t.Errorf("README.md has no %q", command)
			}
		})
	}
}
