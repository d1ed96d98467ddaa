package helm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// helpers are templates that others include.
const helpers = `
{{ define "nil" }}
{{ .Values.a.b.c }}{{ end }}
{{ define "random" }}{{ include "deeper" . }}{{ end }}
{{ define "deeper" }}

{{ randAlpha 5 }}{{ end }}`

// TestTemplateErrors wants the file, the line and the cause of each error, without a value.
func TestTemplateErrors(t *testing.T) {
	const (
		varies  = "function %s returns a new value every time, so that every run would change the object"
		notYAML = "the result of the template isn't YAML: "
	)
	for template, want := range map[string]string{
		`a: {{ randAlphaNum 5 }}`:                           "x.yaml:1: " + fmt.Sprintf(varies, "randAlphaNum"),
		`a: {{ 5 | randAlphaNum | quote }}`:                 "x.yaml:1: " + fmt.Sprintf(varies, "randAlphaNum"),
		"a: 1\nb: {{ .Values.a.b.c }}":                      "x.yaml:2: at .Values.a.b.c: nil pointer evaluating interface {}.b",
		"a: {{ required \"set a\" .Values.a }}":             "x.yaml:1: set a",
		"a: {{ fail \"no: good\" }}":                        "x.yaml:1: no: good",
		"a: {{ include \"nil\" . }}":                        "_h.tpl:3: at .Values.a.b.c: nil pointer evaluating interface {}.b (app/templates/x.yaml:1 includes it)",
		"a: {{ template \"nil\" . }}":                       "_h.tpl:3: at .Values.a.b.c: nil pointer evaluating interface {}.b",
		"a: {{ include \"random\" . }}":                     "_h.tpl:7: " + fmt.Sprintf(varies, "randAlpha") + " (app/templates/x.yaml:1 includes it)",
		"a: {{ include \"none\" . }}":                       `x.yaml:1: at include "none" .: no template "none" associated with template "gotpl"`,
		"a: {{ tpl .Values.random . }}":                     "x.yaml:1: " + fmt.Sprintf(varies, "randNumeric"),
		"a: {{ tpl .Values.unknown . }}":                    `x.yaml:1: at tpl .Values.unknown .: function "nope" not defined`,
		"a: {{ tpl \"{{ include \\\"random\\\" . }}\" . }}": "_h.tpl:7: " + fmt.Sprintf(varies, "randAlpha") + " (app/templates/x.yaml:1 includes it)",
		"a: {{ index .Values.random 100 }}":                 "x.yaml:1: at index .Values.random 100: index out of range: 100",
		"a: {{ .Values.unknown | mustToDate \"2006\" }}":    `x.yaml:1: at mustToDate "2006": parsing time … as …: cannot parse … as …`,
		"a: {{ mustFromJson .Values.unknown }}":             "x.yaml:1: at mustFromJson .Values.unknown: invalid character",
		"a: {{ add 1 | nope }}":                             `x.yaml:1: function "nope" not defined`,
		"a: 1\n{{ if }}":                                    "x.yaml:2: missing value for if",
		"a: {{ if eq .Values.n \"x\" }}{{ end }}":           `x.yaml:1: at eq .Values.n "x": incompatible types for comparison: float64 and string`,
		"a: {{ .Values.n | b64enc }}":                       "x.yaml:1: at b64enc: wrong type for value; expected string; got float64",
		"{{ if true }}\nkind: A\na: b\n c: d\n{{ end }}":    "x.yaml:4: " + notYAML + "mapping values are not allowed in this context",
		"a: 1\n---\na: b\n---\n\nb:\n{{- range list 1 2 }}\n  {{ . }}: {{ . }}\n   c: d\n{{- end }}": "x.yaml:9: " + notYAML + "mapping values are not allowed in this context",
		"a:\n  b: {\n{{- if true }}\n  c: d\n{{- end }}\n{{ define \"x\" }}{ {{- end }}":             "x.yaml:4: " + notYAML + "did not find expected",
		"kind: A\nmetadata: {annotations: {{ .Values.unknown | quote }}}":                            "x.yaml:0: " + notYAML + "metadata.annotations can't be a string",
		"a: {{ lookup \"v1\" \"Secret\" \"\" \"\" }}":                                                "x.yaml:1: function lookup: rendering asks no cluster",
		"a: {{ env \"HOME\" }}":                             "x.yaml:1: function env: what is rendered must not hang on the machine's environment",
		"a: {{ \"b\" | date \"2006\" }}":                    "x.yaml:1: a function of dates gets no date, and would return the current time",
		"a: {{ dateInZone \"2006\" (int64 1) \"Local\" }}":  `x.yaml:1: the zone "Local" is another one`,
		"a: {{ durationRound (toDate \"2006\" \"2020\") }}": "x.yaml:1: " + fmt.Sprintf(varies, "durationRound with a date"),
		"a: {{ printf \"%p\" .Values }}":                    "x.yaml:1: function printf: %p prints an address",
		"a: {{ printf \"%+[1]p\" .Values }}":                "x.yaml:1: function printf: %p prints an address",
	} {
		t.Run(template, func(t *testing.T) {
			files := simple(map[string]string{"templates/x.yaml": template, "templates/_h.tpl": helpers})
			_, problems := rendering(t, files, `{"random": "{{ randNumeric 5 }}", "n": 5, "unknown": "{{ nope }} s3cret"}`)
			if len(problems) != 1 {
				t.Errorf("%s: %v, want %s", template, problems, want)
				return
			}
			p := problems[0]
			got := fmt.Sprintf("%s:%d: %s", strings.TrimPrefix(p.File, "app/templates/"), p.Line, p.What)
			if !strings.HasPrefix(got, want) || strings.Contains(got, "s3cret") || p.Fix == "" {
				t.Errorf("%s\n%s (%s), want\n%s", template, got, p.Fix, want)
			}
		})
	}
}

// TestSecretErrors wants the texts of a chart's author, and none with a value, if values are
// secret.
func TestSecretErrors(t *testing.T) {
	const hidden = "a template refuses the values (the reason could show a secret)"
	for template, want := range map[string]string{
		`{{ fail (upper .Values.token) }}`:                        hidden,
		`{{ required (printf "no %s" .Values.token) .Values.a }}`: hidden,
		`{{ required "set a" .Values.a }}`:                        "set a",
		`{{ .Values.token.b }}`:                                   "at .Values.token.b: can't evaluate field b in type interface {}",
		`{{ randAlpha 5 }}`:                                       "function randAlpha returns a new value every time, so that every run would change the object",
	} {
		t.Run(template, func(t *testing.T) {
			c := New()
			o := opening(t, c, wire.Open{Dir: write(t, simple(map[string]string{"templates/x.yaml": template})), Path: "app"})
			render := wire.Render{Chart: o.Chart, ReleaseName: "acme", Namespace: "tenants", Values: []byte(`{"token": "s3cret"}`), Secret: true}
			if _, problems := c.Render(t.Context(), render); len(problems) != 1 || problems[0].What != want || problems[0].Line != 1 {
				t.Errorf("%s: %v, want %s", template, problems, want)
			}
		})
	}
}
