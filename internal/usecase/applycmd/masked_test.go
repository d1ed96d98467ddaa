package applycmd

import (
	"strings"
	"testing"
)

func TestMasked(t *testing.T) {
	const place = `f.yaml:9: form "web", resource "door", spec.port: row "coda": `
	for _, test := range []struct{ name, text, want string }{
		{"quoted", place + `"http" is not a whole number`, place + `"•••" is not a whole number`},
		{"quoted with quotes and backslashes in it", place + `"a\"http\\" is none`, place + `"•••" is none`},
		{"broken off", place + `parsing "htt…`, place + `parsing "•••"`},
		{"shown in part", place + `error calling fail: no hunte… (9000 more bytes) here`, place + `••• here`},
		{"not quoted", place + `error calling fail: no hunter2-x for hunter2`, place + `error calling fail: no ••• for •••`},
		{"short values are found in words", place + `not JSON: it breaks off`, place + `not JSON: it breaks off`},
		{"several lines", place + `"http" is not a number` + "\n" + place + `bad "x"`, place + `"•••" is not a number` + "\n" + place + `bad "•••"`},
		{"a value of several lines, in one", place + `bad: one; two`, place + `bad: •••`},
		{"no row is named", `"http" and hunter2`, `"•••" and •••`},
		{"the row's uid", place + `row coda is bad`, place + `row coda is bad`},
	} {
		got := masked(test.text, "coda", []string{"coda", "http", "hunter2", "hunter2-x", "one\ntwo", "t", ""})
		if got != test.want {
			t.Errorf("%s:\n%s, want\n%s", test.name, got, test.want)
		}
		if strings.Contains(got, "hunter2") || strings.Contains(got, "http") {
			t.Errorf("%s: %s", test.name, got)
		}
	}
}
