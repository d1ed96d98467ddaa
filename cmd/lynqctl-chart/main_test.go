package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	for _, c := range []struct {
		args          []string
		code          int
		out, complain string
	}{
		{[]string{"--version"}, 0, "lynqctl-chart ", ""},
		{nil, exitUsage, "", "lynqctl starts this program for forms"},
		{[]string{"build"}, exitUsage, "", "You don't need to run it."},
	} {
		t.Run(c.out, func(t *testing.T) {
			var out, errOut bytes.Buffer
			code := run(c.args, strings.NewReader(""), &out, &errOut)
			if code != c.code || !strings.HasPrefix(out.String(), c.out) || (c.out == "") != (out.Len() == 0) || !strings.Contains(errOut.String(), c.complain) {
				t.Errorf("%q: exit code %d, %q, %q", c.args, code, &out, &errOut)
			}
		})
	}
}
