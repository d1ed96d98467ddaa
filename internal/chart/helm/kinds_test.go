package helm

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// TestKinds wants the kinds of a chart, its subcharts and its named templates. A kind that
// nobody can know before a release is one without a text.
func TestKinds(t *testing.T) {
	c := &chart.Chart{Templates: []*common.File{{Name: "templates/a.yaml", Data: []byte(`apiVersion: apps/v1
kind: Deployment
spec:
  kind: NotThis
{{- if .Values.x }}
---
apiVersion: {{ include "x" . }}
kind: "Ingress"
---
{{ if .Values.old }}
apiVersion: autoscaling/v1
{{ else }}
apiVersion: autoscaling/v2
{{ end }}
kind: HorizontalPodAutoscaler
---
apiVersion: v1
kind: {{ .Values.kind }}
{{- end }}
`)}}}
	sub := &chart.Chart{Templates: []*common.File{{Name: "templates/_all.tpl", Data: []byte("{{- define \"s\" }}\napiVersion: v1\nkind: Service\r\n{{- end }}\n")}}}
	c.SetDependencies(sub)
	want := []wire.Kind{{APIVersion: "v1"}, {APIVersion: "apps/v1", Kind: "Deployment"}, {Kind: "HorizontalPodAutoscaler"}, {Kind: "Ingress"}, {APIVersion: "v1", Kind: "Service"}}
	if diff := cmp.Diff(want, kinds(c)); diff != "" {
		t.Error(diff)
	}
}

// TestUnknownKinds wants a kind without a text for templates that print whole objects.
func TestUnknownKinds(t *testing.T) {
	for text, want := range map[string]bool{
		"{{- range .Values.extra }}\n---\n{{ tpl (toYaml .) $ }}\n{{- end }}":   true,
		"{{ include \"common.service\" . }}":                                    true,
		"kind: A\n---\n{{ .Files.Get \"all.yaml\" }}":                           true,
		"kind: A\nmetadata: {{ toYaml .Values.x | nindent 2 }}\n":               false,
		"{{- if .Values.x }}\n---\nkind: A\ndata: {{ include \"a\" . }}\n---\n": false,
		"# {{ .Values.x }}": false,
	} {
		t.Run(text, func(t *testing.T) {
			for _, name := range []string{"templates/x.yaml", "templates/_x.tpl", "templates/NOTES.txt"} {
				c := &chart.Chart{Templates: []*common.File{{Name: name, Data: []byte(text)}}}
				want := want && name == "templates/x.yaml"
				if got := slices.Contains(kinds(c), wire.Kind{}); got != want {
					t.Errorf("%s: %q: %v, want %v", name, text, got, want)
				}
			}
		})
	}
}
