package applycmd

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func TestMasked(t *testing.T) {
	const place = `f.yaml:9: form "web", resource "door", spec.port: row "coda": `
	of := func(causes ...string) lynq.Problems {
		var ps lynq.Problems
		for _, what := range causes {
			ps = append(ps, lynq.Problem{Pos: lynq.Pos{File: "f.yaml", Line: 9}, Subject: `form "web", resource "door", spec.port`, Row: "coda", What: what})
		}
		return ps
	}
	for _, test := range []struct {
		name string
		of   lynq.Problems
		want string
	}{
		{"quoted", of(`"http" is not a whole number`), place + `"•••" is not a whole number`},
		{"quoted with quotes and backslashes in it", of(`"a\"http\\" is none`), place + `"•••" is none`},
		{"broken off", of(`parsing "htt…`), place + `parsing "•••"`},
		{"shown in part", of(`error calling fail: no hunte… (9000 more bytes) here`), place + `••• here`},
		{"not quoted", of(`error calling fail: no hunter2-x for hunter2`), place + `error calling fail: no ••• for •••`},
		{"short values are found in words", of(`not JSON: it breaks off`), place + `not JSON: it breaks off`},
		{"several lines", of(`"http" is not a number`, `bad "x"`), place + `"•••" is not a number` + "\n" + place + `bad "•••"`},
		{"a value of several lines, in one", of("bad: one\ntwo"), place + `bad: •••`},
		{"no row is named", lynq.Problems{{Pos: lynq.Pos{File: "f.yaml"}, What: `"http" and hunter2`}}, "f.yaml: " + `"•••" and •••`},
		{"another row", lynq.Problems{{Pos: lynq.Pos{File: "f.yaml", Line: 9}, Row: "coda", Verb: true, What: `renders Service/shop/http, which row "bolt" renders too`}}, `f.yaml:9: row "•••" renders Service/shop/•••, which row "•••" renders too`},
		{"twice the same", append(of("no hunter2"), of("no hunter2")...), place + "no •••"},
		{"the row's uid", of(`row coda is bad`), place + `row coda is bad`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := masked(test.of, "coda", []string{"coda", "http", "hunter2", "hunter2-x", "one\ntwo", "t", ""})
			if got != test.want {
				t.Errorf("%s:\n%s, want\n%s", test.name, got, test.want)
			}
			if strings.Contains(got, "hunter2") || strings.Contains(got, "http") {
				t.Errorf("%s: %s", test.name, got)
			}
		})
	}
}
