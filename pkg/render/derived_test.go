package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/render"
)

// TestNamesOfPods checks names that the server accepts, and of which a controller can make
// no Pods. The longest accepted names get Pods: test/e2e, derived-names.
func TestNamesOfPods(t *testing.T) {
	const job = "completionMode: Indexed, completions: "
	for _, c := range []struct {
		kind, spec string
		longest    int
		dots       bool
	}{
		{"apps/v1 Deployment", "{}", 242, true},
		{"apps/v1 DaemonSet", "{}", 242, true},
		{"apps/v1 StatefulSet", "{}", 52, false},
		{"apps/v1beta2 StatefulSet", "{}", 52, false},
		{"apps/v1 ReplicaSet", "{}", 253, true},
		{"v1 ReplicationController", "{}", 253, true},
		{"v1 Pod", "{}", 253, true},
		{"example.com/v1 StatefulSet", "{}", 253, true},
		{"batch/v1 CronJob", "{}", 52, true},
		{"batch/v1 Job", "{}", 63, true},
		{"batch/v1 Job", "{completionMode: NonIndexed, completions: 100}", 63, true},
		{"batch/v1 Job", "{completionMode: Indexed}", 63, true},
		{"batch/v1 Job", "{" + job + "0}", 63, true},
		{"batch/v1 Job", "{" + job + "1}", 61, false},
		{"batch/v1 Job", "{" + job + "10}", 61, false},
		{"batch/v1 Job", "{" + job + "11}", 60, false},
		{"batch/v1 Job", "{" + job + "'{{ .b }}'}", 59, false},
		{"batch/v1 Job", "{completionMode: '{{ .a }}', completions: '{{ .b }}'}", 59, false},
		{"batch/v1 CronJob", "{jobTemplate: {spec: {" + job + "10}}}", 52, false},
		{"batch/v1 CronJob", "{jobTemplate: {spec: {" + job + "100}}}", 51, false},
		{"batch/v1 CronJob", "{jobTemplate: {spec: {" + job + "'{{ .b }}'}}}", 50, false},
	} {
		t.Run(c.kind, func(t *testing.T) {
			version, kind, _ := strings.Cut(c.kind, " ")
			resource := func(name string) string {
				return hubYAML + formYAML("manifests", fmt.Sprintf("nameTemplate: %q\nspec: {apiVersion: %s, kind: %s, spec: %s}", name, version, kind, c.spec))
			}
			refused := func(name string) string {
				p := compileAll(t, load(t, resource("{{ .hostOrUrl }}")), render.Options{})[0]
				_, problems := p.Node(record{"id": "acme", "a": "Indexed", "b": "1000", "url": name}.row(p.Hub, 2))
				return problems.Error()
			}
			fits, long, dotted := strings.Repeat("x", c.longest), strings.Repeat("x", c.longest+1), "a.b"
			if got := refused(fits); got != "" {
				t.Errorf("%s %s, %d characters: %s", c.kind, c.spec, len(fits), got)
			}
			if got, want := refused(long), fmt.Sprintf("%d characters, at most %d are allowed", len(long), c.longest); !strings.Contains(got, want) {
				t.Errorf("%s %s, %d characters: %q", c.kind, c.spec, len(long), got)
			}
			if got := refused(dotted); (got == "") != c.dots {
				t.Errorf("%s %s, a.b: %q", c.kind, c.spec, got)
			}
		})
	}
}

// TestStaticNamesOfPods checks that a form alone shows such names, and names in a
// StatefulSet that its Pods need.
func TestStaticNamesOfPods(t *testing.T) {
	const form = `form "web", resource "r", `
	for _, c := range []struct{ resource, want string }{
		{"nameTemplate: " + strings.Repeat("x", 53) + "\nspec: {apiVersion: apps/v1, kind: StatefulSet}",
			`stdin:17: ` + form + `nameTemplate: name "` + strings.Repeat("x", 53) + `" has 53 characters, at most 52 are allowed, because its Pods get a label with the name and 11 characters more (shorten it, e.g. with trunc 52)`},
		{"nameTemplate: x\nspec: {apiVersion: apps/v1, kind: StatefulSet, spec: {serviceName: a.b}}",
			`stdin:18: ` + form + `spec.serviceName: name "a.b" isn't valid in Kubernetes (use lowercase letters, digits, and '-', and start and end with a letter or digit)`},
		{"nameTemplate: x\nspec: {apiVersion: apps/v1, kind: StatefulSet, spec: {serviceName: '', volumeClaimTemplates: [{metadata: {name: data}}, {metadata: {name: my.data}}]}}",
			`stdin:18: ` + form + `spec.volumeClaimTemplates[].metadata.name: name "my.data" isn't valid in Kubernetes (use lowercase letters, digits, and '-', and start and end with a letter or digit)`},
	} {
		t.Run(c.resource, func(t *testing.T) {
			if got := problemsOf(t, hubYAML+formYAML("manifests", c.resource), render.Options{}); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.resource, got, c.want)
			}
		})
	}
	for field, manifest := range map[string]string{
		"spec.serviceName":                          "serviceName: '{{ .b }}'",
		"spec.volumeClaimTemplates[].metadata.name": "volumeClaimTemplates: [{metadata: {name: '{{ .b }}'}}]",
	} {
		t.Run(field, func(t *testing.T) {
			p := compileAll(t, load(t, hubYAML+formYAML("manifests", "nameTemplate: x\nspec: {apiVersion: apps/v1, kind: StatefulSet, spec: {"+manifest+"}}")), render.Options{})[0]
			for name, valid := range map[string]bool{"": true, "data": true, strings.Repeat("x", 63): true, strings.Repeat("x", 64): false, "my.data": false} {
				_, problems := p.Node(record{"id": "acme", "b": name}.row(p.Hub, 2))
				if got := problems.Error(); (got == "") != valid || !valid && !strings.Contains(got, field+`: row "acme": name `) {
					t.Errorf("%s %s: %q", field, name, got)
				}
			}
		})
	}
}
