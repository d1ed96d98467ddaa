package render_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/render"
)

// TestSizes checks objects and annotations that no server takes.
func TestSizes(t *testing.T) {
	const mebi = 1 << 20
	text := func(n int) string { return strings.Repeat("x", n) }
	encoded := func(n int) string { return base64.StdEncoding.EncodeToString([]byte(text(n))) }
	data := func(n int) string { return fmt.Sprintf("its data has %d bytes, at most 1048576 are allowed in a ", n) }
	annotations := func(n int) string {
		return fmt.Sprintf("its annotations have %d bytes, at most 262144 are allowed", n)
	}
	for _, c := range []struct{ section, kind, content, a, b, want string }{
		{"configMaps", "v1 ConfigMap", "data: {k: '{{ .a }}'}", text(mebi), "", ""},
		{"configMaps", "v1 ConfigMap", "data: {k: '{{ .a }}'}", text(mebi + 1), "", data(mebi+1) + "ConfigMap"},
		{"configMaps", "v1 ConfigMap", "data: {k: '{{ .a }}', l: xy}", text(mebi - 2), "", ""},
		{"configMaps", "v1 ConfigMap", "data: {k: '{{ .a }}', l: xyz}", text(mebi - 2), "", data(mebi+1) + "ConfigMap"},
		{"configMaps", "v1 ConfigMap", "data: {k: '{{ .a }}'}", strings.Repeat("\n\"", mebi/2), "", ""},
		{"configMaps", "v1 ConfigMap", "data: {k: '{{ .a }}'}\n  binaryData: {l: '{{ .b }}'}", text(mebi / 2), encoded(mebi / 2), ""},
		{"configMaps", "v1 ConfigMap", "data: {k: '{{ .a }}'}\n  binaryData: {l: '{{ .b }}'}", text(mebi / 2), encoded(mebi/2 + 1), data(mebi+1) + "ConfigMap"},
		{"secrets", "v1 Secret", "data: {k: '{{ .a }}'}", encoded(mebi), "", ""},
		{"secrets", "v1 Secret", "data: {k: '{{ .a }}'}", encoded(mebi + 1), "", data(mebi+1) + "Secret"},
		{"secrets", "v1 Secret", "stringData: {k: '{{ .a }}'}", text(mebi), "", ""},
		{"secrets", "v1 Secret", "stringData: {k: '{{ .a }}'}", text(mebi + 1), "", data(mebi+1) + "Secret"},
		{"secrets", "v1 Secret", "stringData: {k: '{{ .a }}'}\n  data: {k: '{{ .b }}'}", text(mebi), encoded(9), ""},
		{"secrets", "v1 Secret", "stringData: {l: '{{ .a }}'}\n  data: {k: '{{ .b }}'}", text(mebi), encoded(9), data(mebi+9) + "Secret"},
		{"manifests", "example.com/v1 Thing", "spec: {k: '{{ .a }}'}", text(3<<19 - 300), "", ""},
		{"manifests", "example.com/v1 Thing", "spec: {k: '{{ .a }}'}", text(3 << 19), "", "bytes as JSON, and an API server takes at most 1572864"},
		{"manifests", "example.com/v1 Thing", "spec: {k: '{{ .a }}'}", strings.Repeat("\"", mebi), "", "bytes as JSON, and an API server takes at most 1572864"},
		{"manifests", "example.com/v1 Thing", "spec: {k: '{{ .a }}', l: '{{ .a }}'}", text(mebi), "", "bytes as JSON, and an API server takes at most 1572864"},
		{"deployments", "apps/v1 Deployment", "spec: {template: {metadata: {annotations: {k: '{{ .a }}'}}}}", text(1<<18 - 1), "", ""},
		{"deployments", "apps/v1 Deployment", "spec: {template: {metadata: {annotations: {k: '{{ .a }}'}}}}", text(1 << 18), "", "spec.template.metadata: row \"acme\": " + annotations(1<<18+1)},
		{"cronJobs", "batch/v1 CronJob", "spec: {jobTemplate: {spec: {template: {metadata: {annotations: {k: '{{ .a }}'}}}}}}", text(1 << 18), "", "spec.jobTemplate.spec.template.metadata: row \"acme\": " + annotations(1<<18+1)},
		{"cronJobs", "batch/v1 CronJob", "spec: {jobTemplate: {metadata: {annotations: {k: '{{ .a }}', l: x}}}}", text(1 << 18), "", "spec.jobTemplate.metadata: row \"acme\": " + annotations(1<<18+3)},
		{"statefulSets", "apps/v1 StatefulSet", "spec: {volumeClaimTemplates: [{metadata: {annotations: {k: '{{ .a }}'}}}]}", text(1 << 18), "", "spec.volumeClaimTemplates[].metadata: row \"acme\": " + annotations(1<<18+1)},
		{"manifests", "example.com/v1 Thing", "spec: {template: {metadata: {annotations: {k: '{{ .a }}'}}}}", text(1 << 18), "", ""},
		{"manifests", "example.com/v1 Thing", "metadata: {annotations: {k: '{{ .a }}'}}", text(1 << 18), "", "metadata: row \"acme\": its annotations have "},
	} {
		t.Run(c.section, func(t *testing.T) {
			version, kind, _ := strings.Cut(c.kind, " ")
			resource := fmt.Sprintf("nameTemplate: x\nspec:\n  apiVersion: %s\n  kind: %s\n  %s", version, kind, c.content)
			p := compileAll(t, load(t, hubYAML+formYAML(c.section, resource)), render.Options{})[0]
			_, problems := p.Node(record{"id": "acme", "a": c.a, "b": c.b}.row(p.Hub, 2))
			if got := problems.Error(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("%s %s with %d and %d bytes: got %.300q, want %q", c.kind, c.content, len(c.a), len(c.b), got, c.want)
			}
		})
	}
}
