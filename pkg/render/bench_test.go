package render_test

import (
	"fmt"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/render"
)

// BenchmarkTemplates renders 1000 rows with a string that needs the interpreter.
func BenchmarkTemplates(b *testing.B) {
	rows := make([]record, 1000)
	for i := range rows {
		rows[i] = record{"id": fmt.Sprintf("t%04d", i), "a": "5", "b": "gold", "url": "https://acme.example:8443/x?y"}
	}
	for name, template := range map[string]string{
		"condition": `{{ if eq .b "gold" }}{{ .uid }}{{ else }}{{ .a | default "none" }}{{ end }}`,
		"functions": `{{ .b | upper | trunc 20 }}-{{ printf "%s-%s" .uid .a }}`,
		"json":      `{{ $c := fromJson "{\"x\": [1, 2, 3], \"y\": {\"z\": \"w\"}}" }}{{ get $c "y" | toJson }}{{ $c.y.z }}`,
		"list":      `{{ range $i, $x := list "a" "b" "c" }}{{ $i }}{{ $x }}{{ end }}`,
		"loop":      `{{ range until 20 }}{{ . }}{{ $.uid | upper }};{{ end }}`,
	} {
		b.Run(name, func(b *testing.B) {
			programs := compileAll(b, load(b, hubYAML+custom("v: "+single(template))), render.Options{})
			b.ReportAllocs()
			for b.Loop() {
				_, _, err := runAll(b, programs, rows, render.Settings{Workers: 1})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
