package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/render"
)

// TestKustomize checks that text that kustomize can't build fails the row only if
// kustomize reads the output.
func TestKustomize(t *testing.T) {
	t.Parallel()
	kustomize := render.Options{Kustomize: true}
	for _, test := range []struct {
		text string
		lost rune // 0 for none
	}{
		{"plain", 0}, {"é\u00a0\u2028\ufeff\ufffd😀\U0001fffe", 0}, {"\t\n\x00\x1b\r", 0},
		{"a\x7f", 0x7f}, {"\u0080", 0x80}, {"x\u0085y", 0x85}, {"\u009f", 0x9f}, {"é\ufffe", 0xfffe}, {"\uffff\u007f", 0xffff},
		{"x\u2028", 0}, {"x\u2029y\nz", 0}, {"x\ny\u2029", 0x2029}, {"x\ny\u2028", 0x2028},
	} {
		t.Run(test.text, func(t *testing.T) {
			t.Parallel()
			for _, data := range []string{`x: "{{ .a }}"`, `x: "{{ .a | quote }}"`, `x: "{{ .a | b64enc | b64dec }}"`, `x: "a {{ .b }} {{ .a }}"`} {
				in := load(t, hubYAML+configMap(data))
				row := []record{{"id": "acme", "a": test.text, "b": "word"}}
				_, run, err := runAll(t, compileAll(t, in, render.Options{}), row, render.Settings{})
				if err != nil || run.Err() != nil {
					t.Errorf("%q without kustomize: %v %v", test.text, err, run.Err())
				}
				if strings.Contains(data, "quote") {
					continue // it may escape the character
				}
				_, run, err = runAll(t, compileAll(t, in, kustomize), row, render.Settings{})
				switch {
				case err != nil:
					t.Error(err)
				case test.lost == 0 && run.Err() != nil:
					t.Errorf("%q: %v", test.text, run.Err())
				case test.lost != 0 && (run.Err() == nil || !strings.Contains(run.Err().Error(), fmt.Sprintf(`data.x: row "acme": kustomize cannot build an object with the character %U`, test.lost))):
					t.Errorf("%q, %s: %v", test.text, data, run.Err())
				}
			}
		})
	}
}

// TestKustomizeAnnotation checks annotations that begin with a tab. kustomize writes them
// as a block that it can't read.
func TestKustomizeAnnotation(t *testing.T) {
	t.Parallel()
	form := func(text string) string {
		return formYAML("configMaps", "nameTemplate: x\nannotationsTemplate: {example.com/a: "+text+"}\nspec: {apiVersion: v1, kind: ConfigMap}\n")
	}
	for text, lost := range map[string]bool{"\tx\n": true, "\t\n": true, "\tx": false, "x\n\ty": false, "\n\tx": false} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			row := []record{{"id": "acme", "a": text, "b": "word"}}
			in := load(t, hubYAML+form(`"{{ .a }}"`))
			_, run, err := runAll(t, compileAll(t, in, render.Options{Kustomize: true}), row, render.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if refused := run.Err() != nil && strings.Contains(run.Err().Error(), "begins with a tab"); refused != lost {
				t.Errorf("%q of a row: %v", text, run.Err())
			}
			in = load(t, hubYAML+form(fmt.Sprintf("%q", text)))
			_, problems := render.Compile(in.Forms[0], in.Hub(in.Forms[0]), render.Options{Kustomize: true})
			if len(problems) > 0 != lost {
				t.Errorf("%q of the form: %v", text, problems)
			}
		})
	}
}

// TestKustomizeOfTheForm checks the same for the form's own values and keys.
func TestKustomizeOfTheForm(t *testing.T) {
	t.Parallel()
	for _, data := range []string{`x: "\x7f"`, `"\x7f": x`, `x: "\uFFFE"`, `"x\u0085": x`} {
		t.Run(data, func(t *testing.T) {
			t.Parallel()

			in := load(t, hubYAML+configMap(data))
			form := in.Forms[0]
			if _, problems := render.Compile(form, in.Hub(form), render.Options{}); len(problems) > 0 {
				t.Errorf("%s without kustomize: %v", data, problems)
			}
			_, problems := render.Compile(form, in.Hub(form), render.Options{Kustomize: true})
			if len(problems) != 1 || !strings.Contains(problems[0].String(), "kustomize cannot build an object with the character U+") {
				t.Errorf("%s: %v", data, problems)
			}
		})
	}
}

// TestKustomizeObeys refuses objects that kustomize wouldn't build as the form writes them.
// Other annotations and kinds are fine.
func TestKustomizeObeys(t *testing.T) {
	t.Parallel()
	object := func(annotations, kind, fields string) string {
		return hubYAML + `---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: crm
  manifests:
    - {id: x, nameTemplate: "{{ .uid }}", annotationsTemplate: {` + annotations + `}, spec: {apiVersion: example.com/v1, kind: ` + kind + fields + `}}
`
	}
	for _, test := range []struct{ text, want string }{
		{object(`config.kubernetes.io/local-config: "true"`, "Thing", ""), "kustomize obeys annotation config.kubernetes.io/local-config"},
		{object(`config.kubernetes.io/local-config: "{{ .uid }}"`, "Thing", ""), "kustomize obeys annotation config.kubernetes.io/local-config"},
		{object(`internal.config.kubernetes.io/previousNames: a`, "Thing", ""), "kustomize obeys annotation internal.config.kubernetes.io/previousNames"},
		{object(`kustomize.config.k8s.io/needs-hash: "true"`, "Thing", ""), "kustomize obeys annotation kustomize.config.k8s.io/needs-hash"},
		{object("", "Thing", `, metadata: {annotations: {config.kubernetes.io/local-config: "false"}}`), "kustomize obeys annotation config.kubernetes.io/local-config"},
		{object("", "Thing", `, template: {metadata: {annotations: {config.kubernetes.io/local-config: "true"}}}`), ""},
		{object("config.kubernetes.io/depends-on: a", "Thing", ""), ""},
		{object("", "AllowList", ", items: []"), "kustomize takes kind AllowList with items"},
		{object("", "AllowList", ", items: [10.0.0.0/8]"), "kustomize takes kind AllowList with items"},
		{object("", "AllowList", `, items: "{{ .uid }}"`), "kustomize takes kind AllowList with items"},
		{object("", "AllowList", ", spec: {items: [a]}"), ""},
		{object("", "Listed", ", items: [a]"), ""},
	} {
		t.Run(test.text, func(t *testing.T) {
			t.Parallel()

			in := load(t, test.text)
			if _, problems := render.Compile(in.Forms[0], in.Hub(in.Forms[0]), render.Options{}); len(problems) > 0 {
				t.Errorf("%s without kustomize: %v", test.text, problems)
			}
			_, problems := render.Compile(in.Forms[0], in.Hub(in.Forms[0]), render.Options{Kustomize: true})
			if test.want == "" && len(problems) > 0 || test.want != "" && (len(problems) != 1 || !strings.Contains(problems[0].String(), test.want)) {
				t.Errorf("%s: %v, want %q", test.text, problems, test.want)
			}
		})
	}
}
