package helm

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	release "helm.sh/helm/v4/pkg/release/v1"
)

// TestHookWarnings wants a warning for each template whose hook lynqctl doesn't run, and none for
// tests and installations.
func TestHookWarnings(t *testing.T) {
	c := &chart.Chart{Metadata: &chart.Metadata{}, Templates: []*common.File{
		{Name: "templates/test.yaml", Data: []byte("annotations:\n  \"helm.sh/hook\": test\n")},
		{Name: "templates/install.yaml", Data: []byte("annotations: {helm.sh/hook: \"pre-install, post-install\"}\n")},
		{Name: "templates/upgrade.yaml", Data: []byte("annotations:\r\n  'helm.sh/hook': post-install,post-upgrade\r\n  helm.sh/hook-weight: \"1\"\r\n")},
		{Name: "templates/gone.yaml", Data: []byte("annotations: {helm.sh/hook: post-delete}\n")},
	}}
	o := &opened{chart: c, path: "app"}
	var got []string
	for _, w := range o.hookWarnings(c) {
		got = append(got, w.What)
		if w.Line == 0 {
			t.Errorf("no line: %v", w)
		}
	}
	if diff := cmp.Diff([]string{"lynqctl runs no hook for post-upgrade", "lynqctl runs no hook for post-delete"}, got); diff != "" {
		t.Error(diff)
	}
	if hasHook(c, release.HookPreDelete) {
		t.Error("no template has a hook pre-delete")
	}
	for _, text := range []string{"helm.sh/hook: pre-delete", `"helm.sh/hook": "post-install,pre-delete"`, "{helm.sh/hook: {{ .Values.events }}}"} {
		t.Run(text, func(t *testing.T) {
			sub := &chart.Chart{Templates: []*common.File{{Name: "templates/x.yaml", Data: []byte("a: b\n" + text + "\n")}}}
			parent := &chart.Chart{}
			parent.SetDependencies(sub)
			if !hasHook(parent, release.HookPreDelete) {
				t.Errorf("%s may be a hook pre-delete", text)
			}
		})
	}
}

// TestWithoutTests wants templates with nothing but tests to be left out, so that a random name
// of a test is no problem. Other templates stay.
func TestWithoutTests(t *testing.T) {
	const test = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: t-{{ randAlphaNum 5 | lower }}\n  annotations:\n    \"helm.sh/hook\": test\n"
	for text, want := range map[string]bool{
		test: true, test + "---\n" + test: true, "{{- if true }}\n" + test + "{{- end }}": true, "---\n" + test: true,
		strings.ReplaceAll(test, "hook\": test", "hook\": test-success"): true,
		test + "---\nkind: A\n": false, strings.ReplaceAll(test, "hook\": test", "hook\": test,pre-install"): false,
		strings.ReplaceAll(test, "hook\": test", "hook\": {{ .Values.x }}"): false, test + "---\n{{ toYaml .Values.x }}\n": false,
		test + `{{ define "x" }}{{ end }}`: false, "kind: A": false, "": false,
	} {
		t.Run(text, func(t *testing.T) {
			if got := onlyTests("templates/x.yaml", text); got != want {
				t.Errorf("%q: %v, want %v", text, got, want)
			}
			if onlyTests("templates/_x.yaml", text) {
				t.Errorf("a partial is left out: %q", text)
			}
		})
	}
	sub := map[string]string{"charts/s/Chart.yaml": "name: s\nversion: 1.0.0\n", "charts/s/templates/tests/t.yaml": test, "templates/t.yaml": test, "templates/x.yaml": "kind: A"}
	if r, problems := rendering(t, simple(sub), ""); len(problems) > 0 || texts(r) != "kind: A" {
		t.Errorf("%v, %v", r, problems)
	}
}
