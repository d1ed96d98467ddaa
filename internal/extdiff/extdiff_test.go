package extdiff

import (
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFind(t *testing.T) {
	program, err := exec.LookPath("ls")
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string][]string{
		"":                         nil,
		"ls":                       {program},
		" ls  -u --color=always 5": {program, "-u", "--color=always", "5"},
		"ls ; $(x) `y` > -u":       {program, "-u"}, // as in kubectl
	} {
		t.Run(value, func(t *testing.T) {
			got, err := Find(func(string) string { return value })
			var words []string
			if got != nil {
				words = got.words
			}
			if d := cmp.Diff(want, words); d != "" || err != nil {
				t.Errorf("%q: %v %s", value, err, d)
			}
		})
	}
	for _, value := range []string{"  ", "no-such-program -u"} {
		t.Run(value, func(t *testing.T) {
			if got, err := Find(func(string) string { return value }); err == nil {
				t.Errorf("%q: %q", value, got.words)
			}
		})
	}
}
