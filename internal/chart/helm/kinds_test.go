package helm

import (
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
