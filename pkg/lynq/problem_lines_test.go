package lynq_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestProblemLines: rows with the same problem share a line.
func TestProblemLines(t *testing.T) {
	port := func(row, what string) lynq.Problem {
		return lynq.Problem{Pos: lynq.Pos{File: "f.yaml", Line: 7}, Subject: `form "web", resource "svc", port`, Row: row, What: what}
	}
	bad := func(line int, row string) lynq.Problem {
		return lynq.Problem{Pos: lynq.Pos{File: fmt.Sprintf("rows.csv:%d", line)}, AtRow: true, Row: row, Column: "on", What: "is neither", Fix: "fix it"}
	}
	renders := func(row string) lynq.Problem {
		return lynq.Problem{Pos: lynq.Pos{File: "f.yaml", Line: 3}, Row: row, Verb: true, What: `renders Service/app, which row "a" renders too`}
	}
	var values, one lynq.Problems
	for i := range 14 {
		values = append(values, port(fmt.Sprintf("t%d", i), fmt.Sprintf("%d is too large", 70000+i)))
	}
	one = append(one, values[:11]...)
	for name, tt := range map[string]struct {
		problems lynq.Problems
		want     []string
	}{
		"one row": {lynq.Problems{port("a", "no port")}, []string{`f.yaml:7: form "web", resource "svc", port: row "a": no port`}},
		"equal but for the row": {
			lynq.Problems{port("a", "no port"), port("b", "x"), port("c", "no port"), port("d", "no port"), port("e", "no port")},
			[]string{
				`f.yaml:7: form "web", resource "svc", port: 4 rows ("a", "c", "d" and 1 more): no port`,
				`f.yaml:7: form "web", resource "svc", port: row "b": x`,
			},
		},
		"twice in a row": {lynq.Problems{port("a", "x"), port("a", "x")}, []string{`f.yaml:7: form "web", resource "svc", port: row "a": x`}},
		"the row's place": {
			lynq.Problems{bad(2, "a"), bad(3, "b"), bad(9, "")},
			[]string{`rows.csv:2: 3 rows ("a", "b"), column "on": is neither (fix it)`},
		},
		"a verb": {
			lynq.Problems{renders("b"), renders("c")},
			[]string{`f.yaml:3: 2 rows ("b", "c"): each renders Service/app, which row "a" renders too`},
		},
		"no row": {
			lynq.Problems{{Pos: lynq.Pos{File: "f.yaml"}, What: "x"}, {Pos: lynq.Pos{File: "f.yaml"}, What: "y"}},
			[]string{"f.yaml: x", "f.yaml: y"},
		},
		"many values": {values, append(strings.Split(values[:10].Error(), "\n"),
			`f.yaml:7: form "web", resource "svc", port: 4 more rows ("t10", "t11", "t12" and 1 more): each has a problem of its own (to list them, run lynqctl validate --rows -o json)`)},
		"one value more": {one, strings.Split(one.Error(), "\n")},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.problems.Lines(); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestProblemsWithoutRows: the text names no row, and the form's place once.
func TestProblemsWithoutRows(t *testing.T) {
	place := lynq.Pos{File: "f.yaml", Line: 7}
	for name, tt := range map[string]struct {
		problem lynq.Problem
		want    string
	}{
		"a cause": {lynq.Problem{Pos: place, Subject: "port", Row: "a", What: "no port", Fix: "set one"}, "f.yaml:7: port: no port (set one)"},
		"a verb":  {lynq.Problem{Pos: place, Row: "a", Verb: true, What: "renders Service/app"}, "f.yaml:7: each renders Service/app"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (lynq.Problems{tt.problem}).WithoutRows(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
