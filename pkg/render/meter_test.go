package render_test

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/render"
)

const (
	tooManySteps = "it takes more than 1000000 steps, which are turns of loops and calls of functions (let the database compute it, or loop less)"
	tooMuchWork  = "functions are given or make more than 64 MiB in all (let the database compute it, or make less of it)"
	tooLong      = "the result has more than 4194304 bytes"
	tooDeep      = "lists and maps are more than 100 levels deep in each other"
)

// TestBudget checks that templates that would take hours or all memory always stop at the
// same point. The error names the place and the row. The row is hostile.
func TestBudget(t *testing.T) {
	const at = `stdin:22: form "web", resource "r", spec.v: row "acme": `
	const double = `{{ $l := list "x" }}{{ range until 40 }}{{ $l = list $l $l }}{{ end }}`
	const chain = `{{ $l := list "x" }}{{ range until 200 }}{{ $l = list $l }}{{ end }}`
	const mebibyte = `{{ $s := repeat 1048576 "a" }}`
	row := record{"id": "acme", "a": "1000000000", "b": "9223372036854775807", "url": strings.Repeat("a", 1<<20)}
	for template, want := range map[string]string{
		// These templates loop.
		`{{ range 1000000000 }}{{ end }}`:                                                               tooManySteps,
		`{{ range int .a }}{{ end }}`:                                                                   tooManySteps,
		`{{ range until 1000000 }}{{ end }}`:                                                            tooManySteps,
		`{{ range until 2000 }}{{ range until 2000 }}{{ end }}{{ end }}`:                                tooManySteps,
		`{{ range until 2000 }}{{ range list 1 2 3 }}{{ range until 2000 }}{{ end }}{{ end }}{{ end }}`: tooManySteps,
		`{{ define "x" }}{{ upper "a" }}{{ end }}{{ range until 600000 }}{{ template "x" }}{{ end }}`:   tooManySteps,
		laughs(30): tooManySteps,
		// These templates make lists of numbers.
		`{{ until (int .a) }}`:                            tooMuchWork,
		`{{ until (int .b) }}`:                            tooMuchWork,
		`{{ until -9223372036854775808 }}`:                tooMuchWork,
		`{{ untilStep 0 (int .a) 1 }}`:                    tooMuchWork,
		`{{ untilStep -9223372036854775807 (int .b) 1 }}`: tooMuchWork,
		`{{ untilStep 1 (int .b) (int .b) }}`:             tooMuchWork,
		`{{ seq (int .a) }}`:                              tooMuchWork,
		`{{ seq (int .a) 1 }}`:                            tooMuchWork,
		`{{ seq 0 2 (int .a) }}`:                          tooMuchWork,
		// These functions turn small arguments into large results.
		`{{ repeat (int .a) "x" }}`:                                                 tooMuchWork,
		`{{ repeat 3000000 "xx" }}`:                                                 tooLong,
		`{{ range until 99999 }}{{ repeat 99 "x" }}{{ end }}`:                       tooLong,
		mebibyte + `{{ replace "a" "aaaaaaaa" $s | replace "a" "aaaaaaaa" | len }}`: tooMuchWork,
		mebibyte + `{{ replace "" $s $s | len }}`:                                   tooMuchWork,
		mebibyte + `{{ join $s (until 1000) | len }}`:                               tooMuchWork,
		mebibyte + `{{ wrapWith 1 $s $s | len }}`:                                   tooMuchWork,
		mebibyte + `{{ indent 1000 (replace "a" "\n" $s) | len }}`:                  tooMuchWork,
		mebibyte + `{{ nindent 1000 (replace "a" "\n" $s) | len }}`:                 tooMuchWork,
		mebibyte + `{{ regexReplaceAll "a" $s "$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0" | len }}`: tooMuchWork,
		mebibyte + `{{ regexReplaceAllLiteral "" $s $s | len }}`:                                                           tooMuchWork,
		mebibyte + `{{ regexMatch "(a{0,30}){0,30}b" $s }}`:                                                                tooMuchWork,
		mebibyte + `{{ splitList "" (cat $s $s $s $s) | len }}`:                                                            tooMuchWork,
		mebibyte + `{{ split "a" (cat $s $s) | len }}`:                                                                     tooMuchWork,
		`{{ printf "%999999d%999999d%999999d%999999d%999999d" 1 1 1 1 1 }}`:                                                tooLong,
		`{{ printf (repeat 100 "%999999d") 1 | len }}`:                                                                     tooMuchWork,
		`{{ printf (repeat 100 "%*d") 999999 1 | len }}`:                                                                   tooMuchWork,
		`{{ printf (repeat 100 "%[1]s") .hostOrUrl | len }}`:                                                               tooMuchWork,
		`{{ range until 200 }}{{ $_ := upper $.hostOrUrl }}{{ end }}`:                                                      tooMuchWork,
		`{{ $s := "x" }}{{ range until 40 }}{{ $s = cat $s $s }}{{ end }}{{ len $s }}`:                                     tooMuchWork,
		`{{ $s := "x" }}{{ range until 40 }}{{ $s = print $s $s }}{{ end }}{{ len $s }}`:                                   tooMuchWork,
		`{{ $s := "x" }}{{ range until 40 }}{{ $s = printf "%s%s" $s $s }}{{ end }}{{ len $s }}`:                           tooMuchWork,
		`{{ $s := "x" }}{{ range until 40 }}{{ $s = html $s $s }}{{ end }}{{ len $s }}`:                                    tooMuchWork,
		// These lists and maps share or nest values.
		double + `{{ $l }}`:                tooMuchWork,
		double + `{{ $l | toJson }}`:       tooMuchWork,
		double + `{{ $l | toString }}`:     tooMuchWork,
		double + `{{ printf "%v" $l }}`:    tooMuchWork,
		double + `{{ deepEqual $l $l }}`:   tooMuchWork,
		double + `{{ deepCopy $l }}`:       tooMuchWork,
		double + `{{ join "," $l }}`:       tooMuchWork,
		double + `{{ set (dict) "a" $l }}`: tooMuchWork,
		double + `{{ dict $l 1 }}`:         tooMuchWork,
		double + `{{ has $l (list $l) }}`:  tooMuchWork,
		chain + `{{ $l }}`:                 tooDeep,
		chain + `{{ $l | toJson }}`:        tooDeep,
		`{{ $_ := set . "a" (list 1) }}{{ range until 40 }}{{ $_ := set $ "a" (list $.a $.a) }}{{ end }}{{ .a }}`: tooMuchWork,
		`{{ $l := list 1 }}{{ range until 3000 }}{{ $l = concat $l $l }}{{ end }}{{ len $l }}`:                    tooMuchWork,
		`{{ uniq (until 20000) | len }}`: tooMuchWork,
		// These functions are slow.
		`{{ range until 100 }}{{ derivePassword 1 "long" "a" "b" "c" }}{{ end }}`: tooMuchWork,
	} {
		t.Run(template, func(t *testing.T) {
			in := load(t, hubYAML+custom("v: "+single(template)))
			p := compileAll(t, in, render.Options{})[0]
			_, problems := p.Node(row.row(p.Hub, 2))
			if got := problems.Error(); !strings.HasPrefix(got, at) || !strings.HasSuffix(got, want) {
				t.Errorf("%.200s:\n got %.300s\nwant %s... %s", template, got, at, want)
			}
		})
	}
}

// laughs returns a template in which each definition calls the previous one twice.
func laughs(n int) string {
	var b strings.Builder
	b.WriteString(`{{ define "a" }}{{ end }}`)
	name := "a"
	for range n {
		next := name + "a"
		b.WriteString(`{{ define "` + next + `" }}{{ template "` + name + `" }}{{ template "` + name + `" }}{{ end }}`)
		name = next
	}
	return b.String() + `{{ template "` + name + `" }}`
}

// TestBudgetOfSlow checks the budget of functions that only resources with creationPolicy
// Once may call.
func TestBudgetOfSlow(t *testing.T) {
	for _, template := range []string{
		`{{ range until 100 }}{{ bcrypt "x" }}{{ end }}`,
		`{{ randAlphaNum 1000000000 }}`,
		`{{ randBytes 1000000000 }}`,
	} {
		t.Run(template, func(t *testing.T) {
			in := load(t, hubYAML+formYAML("secrets", "nameTemplate: x\ncreationPolicy: Once\nspec: {apiVersion: v1, kind: Secret, stringData: {x: "+single(template)+"}}\n"))
			p := compileAll(t, in, render.Options{AllowVarying: true})[0]
			_, problems := p.Node(record{"id": "acme"}.row(p.Hub, 2))
			if got := problems.Error(); !strings.HasSuffix(got, tooMuchWork) {
				t.Errorf("%s: %s", template, got)
			}
		})
	}
}

// TestBudgetIsEnough checks that realistic forms stay far below the budget. Each string of
// each row has its own budget.
func TestBudgetIsEnough(t *testing.T) {
	for template, want := range map[string]string{
		`{{ range until 300000 }}{{ upper "x" }}{{ end }}`:                                               strings.Repeat("X", 300000),
		`{{ repeat 4000000 "x" | trunc 700000 }}`:                                                        strings.Repeat("x", 700000),
		`{{ $l := list }}{{ range until 1000 }}{{ $l = append $l "x" }}{{ end }}{{ join "" $l }}`:        strings.Repeat("x", 1000),
		`{{ $d := dict }}{{ range until 1000 }}{{ $_ := set $d (toString .) "x" }}{{ end }}{{ len $d }}`: "1000",
		`{{ uniq (until 1000) | len }}`:                                                                  "1000",
		`{{ regexReplaceAll "[^a-z0-9-]+" (repeat 10000 "Ab ") "-" | len }}`:                             "20001",
		`{{ $l := list (list 1 2) 3 }}{{ $l }}{{ index $l 0 }}`:                                          "[[1 2] 3][1 2]",
	} {
		t.Run(template, func(t *testing.T) {
			in := load(t, hubYAML+custom("v: "+single(template)+"\nw: "+single(template+"{{/* again */}}")))
			p := compileAll(t, in, render.Options{})[0]
			for range 2 {
				node, problems := p.Node(record{"id": "acme"}.row(p.Hub, 2))
				if len(problems) > 0 {
					t.Errorf("%s: %v", template, problems)
					continue
				}
				if spec, _ := contentOf(t, node, 0)["spec"].(map[string]any); spec["v"] != want {
					t.Errorf("%s: %.100v", template, spec["v"])
				}
			}
		})
	}
}
