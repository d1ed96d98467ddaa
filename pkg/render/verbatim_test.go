package render_test

import (
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// TestVerbatim checks that exactly the objects that Flux's variables would change have the
// annotation. The text may come from the form, the row or both.
func TestVerbatim(t *testing.T) {
	verbatim := form.Entry{Key: "example.com/verbatim", Text: form.Text{Text: "true"}}
	for _, test := range []struct {
		name, data, a, b string
		want             bool
	}{
		{"nothing of the kind", "x: $y", "$z", "{w", false},
		{"the form's", "x: 'a ${y}'", "", "", true},
		{"in a key", "'${x': z", "", "", true},
		{"the row's", "x: \"{{ .a }}\"", "a ${b} c", "", true},
		{"the row's, where YAML quotes it", "x: \"{{ .a }}\"", "${b}: \"\n", "", true},
		{"the row's, in a text of lines", "x: \"{{ .a }}\"", "a\n${b}\nc\n", "", true},
		{"of two columns", "x: \"{{ .a }}{{ .b }}\"", "a $", "{b}", true},
		{"of the form and the row", "x: \"costs ${{ .a }}\"", "{c}", "", true},
		{"made by a function", "x: \"{{ .a | b64dec }}\"", "JHt4fQ==", "", true},
		{"an escape", "x: '$$y'", "", "", true},
		{"an escape of two columns", "x: \"{{ .a }}{{ .b }}\"", "a $", "$ b", true},
		{"an escape in a text of lines", "x: \"{{ .a }}\"", "a\n$$\n", "", true},
		{"a tab first", "x: \"{{ .a }}\"", "\ta\nb", "", true},
		{"a tab later", "x: \"{{ .a }}\"", "a\n\tb", "", false},
		{"apart", "x: \"{{ .a }}\"\n\"y\": \"{{ .b }}\"", "$", "{b}", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := load(t, hubYAML+configMap(test.data))
			rows := []record{{"id": "acme", "a": test.a, "b": test.b}}
			for _, asked := range []bool{true, false} {
				o := render.Options{}
				if asked {
					o.Verbatim = verbatim
				}
				for _, format := range []render.Format{render.YAML, render.JSON} {
					out, run, err := runAll(t, compileAll(t, in, o), rows, render.Settings{Format: format})
					if err != nil || run.Err() != nil {
						t.Fatal(err, run.Err())
					}
					if got := strings.Contains(out, verbatim.Key); got != (asked && test.want) {
						t.Errorf("asked for: %v\n%s", asked, out)
					}
				}
			}
		})
	}
}

// TestVerbatimOfTheForm checks that the form's own annotation wins.
func TestVerbatimOfTheForm(t *testing.T) {
	o := render.Options{Verbatim: form.Entry{Key: "example.com/verbatim", Text: form.Text{Text: "true"}}}
	in := load(t, hubYAML+formYAML("configMaps", `
nameTemplate: "{{ .uid }}"
annotationsTemplate: {example.com/verbatim: "no"}
spec: {apiVersion: v1, kind: ConfigMap, data: {x: "${y}"}}
`))
	out, _, err := runAll(t, compileAll(t, in, o), []record{{"id": "acme"}}, render.Settings{})
	if err != nil || !strings.Contains(out, `example.com/verbatim: "no"`) || strings.Count(out, "verbatim") != 1 {
		t.Errorf("%v\n%s", err, out)
	}
}
