package helm

import (
	"testing"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// TestCapabilitiesRead wants a chart to depend on the capabilities that it reads, and on no
// others.
func TestCapabilitiesRead(t *testing.T) {
	for name, c := range map[string]struct {
		files                    map[string]string
		reads, version, versions bool
	}{
		"none":         {files: map[string]string{"templates/a.yaml": "a: {{ .Values.capabilities }}"}},
		"a comment":    {files: map[string]string{"templates/a.yaml": "{{- /* .Capabilities.KubeVersion\n*/ -}}", "README.md": ".Capabilities"}},
		"the version":  {map[string]string{"templates/a.yaml": "a: {{ .Capabilities.KubeVersion.Version }}"}, true, true, false},
		"kinds":        {map[string]string{"templates/a.yaml": `{{ if .Capabilities.APIVersions.Has "a/v1" }}{{ end }}`}, true, false, true},
		"all":          {map[string]string{"templates/_h.tpl": "{{ toYaml .Capabilities }}"}, true, true, true},
		"a subchart":   {map[string]string{"charts/sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.0.0\n", "charts/sub/templates/a": "{{ .Capabilities.KubeVersion }}"}, true, true, false},
		"values":       {map[string]string{"values.yaml": "a: '{{ .Capabilities.KubeVersion }}'\n"}, true, true, false},
		"another file": {map[string]string{"files/a.txt": "{{ .Capabilities.KubeVersion }}"}, true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, simple(c.files))
			open := func(version string, versions ...string) *wire.Opened {
				return opening(t, New(), wire.Open{Dir: dir, Path: "app", KubeVersion: version, APIVersions: versions, Served: true})
			}
			was := open("1.33", "a/v1", "b/v1")
			if was.Capabilities != c.reads || was.KubeVersion != "v1.33" {
				t.Errorf("opened %+v, want reads %t", was, c.reads)
			}
			if changed := open("1.34", "a/v1", "b/v1").Digest != was.Digest; changed != c.version {
				t.Errorf("another version changes the digest: %t", changed)
			}
			if changed := open("1.33", "a/v1").Digest != was.Digest; changed != c.versions {
				t.Errorf("other kinds change the digest: %t", changed)
			}
			if open("1.33", "b/v1", "a/v1", "a/v1").Digest != was.Digest {
				t.Error("the order of kinds changes the digest")
			}
		})
	}
	dir := write(t, map[string]string{"app/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n", "values/a.yaml": "a: '{{ .Capabilities }}'\n"})
	if o := opening(t, New(), wire.Open{Dir: dir, Path: "app", ValuesFiles: []string{"values/a.yaml"}}); !o.Capabilities {
		t.Error("a file of values isn't searched")
	}
}

// TestServed wants the kinds of a cluster to replace those of Helm, and others to add to them.
func TestServed(t *testing.T) {
	files := simple(map[string]string{"templates/a.yaml": `kind: ConfigMap
metadata: {name: a}
data: {apps: "{{ .Capabilities.APIVersions.Has "apps/v1" }}", own: "{{ .Capabilities.APIVersions.Has "a.example/v1/Thing" }}"}
`})
	for served, want := range map[bool]string{true: `{apps: "false", own: "true"}`, false: `{apps: "true", own: "true"}`} {
		c := New()
		o := opening(t, c, wire.Open{Dir: write(t, files), Path: "app", APIVersions: []string{"a.example/v1/Thing"}, Served: served})
		rendered, problems := c.Render(t.Context(), wire.Render{Chart: o.Chart, ReleaseName: "acme", Namespace: "tenants"})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if got := texts(rendered); got != "kind: ConfigMap\nmetadata: {name: a}\ndata: "+want {
			t.Errorf("served %t: %s", served, got)
		}
	}
}

// TestAnyKubeVersion wants a chart to open whatever version it is for, if the asker doesn't
// know the cluster's.
func TestAnyKubeVersion(t *testing.T) {
	files := simple(nil)
	files["app/Chart.yaml"] += "kubeVersion: '>=1.99'\n"
	o := opening(t, New(), wire.Open{Dir: write(t, files), Path: "app", AnyKubeVersion: true})
	if !o.KubeVersions || o.Capabilities {
		t.Errorf("opened %+v", o)
	}
}
