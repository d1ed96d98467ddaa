package render_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// secretHub is hubYAML with secret column a.
func secretHub() string {
	return strings.Replace(hubYAML, "extraValueMappings: {a: a, b: b}", "extraValueMappings: {a: a, b: b}\n  secretColumns: [a]", 1)
}

// TestExposed reports each place outside a Secret that shows a secret column, even if a
// Secret has the same text.
func TestExposed(t *testing.T) {
	in := load(t, secretHub()+formYAML("secrets", `nameTemplate: "{{ .uid }}"
labelsTemplate: {l: "{{ .a | trunc 3 }}"}
spec: {apiVersion: v1, kind: Secret, stringData: {pw: "{{ .a }}", b: "{{ .b }}"}}
`)+`  configMaps:
  - id: c
    nameTemplate: "{{ .uid }}"
    includeWhen: '{{ eq .a "on" }}'
    annotationsTemplate: {x: "{{ .b }}"}
    spec:
      apiVersion: v1
      kind: ConfigMap
      data:
        same: "{{ .a }}"
        both: "{{ .b }}{{ .a | upper }}"
        none: "{{ .b }}"
`)
	p := compileAll(t, in, render.Options{})[0]
	want := `stdin:19: form "web", resource "r", labelsTemplate.l: it shows the value of secret column a outside a Secret (move it to a Secret, and refer to the Secret here)
stdin:24: form "web", resource "c", includeWhen: it shows the value of secret column a outside a Secret (move it to a Secret, and refer to the Secret here)
stdin:30: form "web", resource "c", data.same: it shows the value of secret column a outside a Secret (move it to a Secret, and refer to the Secret here)
stdin:31: form "web", resource "c", data.both: it shows the value of secret column a outside a Secret (move it to a Secret, and refer to the Secret here)`
	if diff := cmp.Diff(want, p.Exposed().Sorted().Err().Error()); diff != "" {
		t.Error(diff)
	}
	fed := map[string]bool{}
	for _, f := range p.Fields("c") {
		fed[strings.Join(f.Path, ".")] = f.Secret
	}
	if diff := cmp.Diff(map[string]bool{"metadata.name": false, "metadata.annotations.x": false, "data.same": true, "data.both": true, "data.none": false}, fed); diff != "" {
		t.Errorf("fields that the column feeds: %s", diff)
	}
	n, problems := p.Node(record{"id": "acme", "a": "on", "b": "hunter2"}.row(p.Hub, 2))
	if len(problems) > 0 {
		t.Fatal(problems.Err())
	}
	if !n.Objects[0].Sensitive || !n.Objects[1].Sensitive {
		t.Errorf("sensitive: %t and %t", n.Objects[0].Sensitive, n.Objects[1].Sensitive)
	}
}

// TestSecretNames refuses names with a secret column, because every output shows names.
func TestSecretNames(t *testing.T) {
	got := problemsOf(t, secretHub()+formYAML("configMaps", `nameTemplate: "x-{{ .a }}"
targetNamespace: "{{ .a }}"
spec: {apiVersion: v1, kind: ConfigMap}
`)+`  tombstones:
  - {apiVersion: v1, kind: ConfigMap, nameTemplate: "{{ .uid }}", matchLabels: {l: "{{ .a }}"}}
`, render.Options{})
	want := `stdin:18: form "web", resource "r", nameTemplate: it shows the value of secret column a, and every output shows names (use another column)
stdin:19: form "web", resource "r", targetNamespace: it shows the value of secret column a, and every output shows names (use another column)`
	if !strings.HasPrefix(got, want) || !strings.Contains(got, "it shows the value of secret column a, and every output shows tombstones (use another column)") {
		t.Error(got)
	}
}

// TestSecretColumnProblems checks that errors don't show a secret column, in any resource
// and with any other failure.
func TestSecretColumnProblems(t *testing.T) {
	in := load(t, secretHub()+configMap(`x: "{{ .a | int }}"
yy: "{{ .b | fail }}"
z: "{{ .a | fail }}"
`))
	p := compileAll(t, in, render.Options{})[0]
	row := record{"id": "acme", "a": "hunter2", "b": "no hunter2 here"}.row(p.Hub, 2)
	_, problems := p.Node(row)
	secrets := redact.New(render.SecretValues(p.Hub, row.Values)...)
	if shown := secrets.Hide(problems.Error()); len(problems) != 3 || strings.Contains(shown, "hunter2") || !strings.Contains(shown, "no ••• here") {
		t.Error(shown)
	}
}
