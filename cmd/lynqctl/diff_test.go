package main

import (
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExternalDiff(t *testing.T) {
	program, err := exec.LookPath("ls")
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string][]string{
		"":                         nil,
		"ls":                       {program},
		" ls  -u --color=always 5": {program, "-u", "--color=always", "5"},
		"ls ; $(x) `y` > -u":       {program, "-u"}, // as kubectl has it
	} {
		got, err := externalDiff(func(string) string { return value })
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%q: %v %s", value, err, d)
		}
	}
	for _, value := range []string{"  ", "no-such-program -u"} {
		if got, err := externalDiff(func(string) string { return value }); err == nil {
			t.Errorf("%q: %q", value, got)
		}
	}
}
