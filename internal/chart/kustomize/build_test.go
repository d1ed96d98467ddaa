package kustomize

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/internal/chart/wire"
)

// write writes the files of an archive below a new directory.
func write(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		at := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(at), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// build builds files from a directory, and then from the texts that it read.
func build(t *testing.T, base, archive string) *wire.Built {
	t.Helper()
	var b Builder
	dir := write(t, archive)
	built, problems := b.Build(wire.Build{Dir: dir, Base: base})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	again, problems := b.Build(wire.Build{Dir: dir, Base: base, Texts: built.Texts})
	if len(problems) > 0 {
		t.Fatalf("from texts: %v", problems)
	}
	if !reflect.DeepEqual(built, again) {
		t.Errorf("from texts: %v, not %v", again, built)
	}
	return built
}

// at returns a value in an object, by fields and indexes.
func at(t *testing.T, text string, path ...any) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			l, _ := v.([]any)
			if step >= len(l) {
				return nil
			}
			v = l[step]
		}
	}
	return v
}

const app = `
-- base/kustomization.yaml --
resources: [app.yaml]
images: [{name: web, newTag: "{{ .tag | default \"v1\" }}"}]
configMapGenerator:
  - name: settings
    literals: ["plan={{ .plan }}", 'quote={{ .uid | quote }}']
    files: [app.conf]
-- base/app.conf --
host = {{ .host }}   # two  spaces, a "quote" and a \ stay
  {{- if eq .plan "gold" }}
fast = yes
  {{- end }}
-- base/app.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: "{{ .replicas | int }}"
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: web
          envFrom: [{configMapRef: {name: settings}}]
          env: [{name: LONG, value: "{{ .uid }} is a value that is longer than the eighty characters at which some writers of YAML fold lines {{ .plan }}"}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
-- component/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
  - target: {kind: Deployment}
    patch: |-
      - {op: add, path: /spec/template/spec/nodeSelector, value: {zone: "{{ .zone }}"}}
-- overlay/kustomization.yaml --
resources: [../base, route.yaml]
components: [../component]
namePrefix: "{{ .uid }}-"
labels:
  - pairs: {tenant: "{{ .uid }}"}
    includeSelectors: true
patches: [{path: patch.yaml}]
replacements:
  - source: {kind: Service, name: web, fieldPath: metadata.name}
    targets: [{select: {kind: Ingress}, fieldPaths: [metadata.annotations.backend]}]
-- overlay/patch.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {template: {spec: {priorityClassName: "{{ .class }}"}}}
-- overlay/route.yaml --
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, annotations: {backend: "", "{{ .uid }}": key}}
spec: {rules: [{host: "{{ .host }}", http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
`

// TestTemplates wants Kustomize to carry templates byte for byte, in each of its features.
func TestTemplates(t *testing.T) {
	built := build(t, "overlay", app)
	texts, files, suffix := map[string]string{}, map[string]string{}, ""
	for _, o := range built.Objects {
		kind, _ := at(t, o.Text, "kind").(string)
		texts[kind], files[kind] = o.Text, o.File
		suffix += o.Suffix
		if strings.Contains(o.Text, "config.kubernetes.io") {
			t.Errorf("an annotation of Kustomize stayed:\n%s", o.Text)
		}
	}
	container := []any{"spec", "template", "spec", "containers", 0}
	settings, _ := at(t, texts["ConfigMap"], "metadata", "name").(string)
	if !strings.HasPrefix(settings, "{{ .uid }}-settings-") || len(suffix) != 11 || settings != "{{ .uid }}-settings"+suffix {
		t.Errorf("the name of a generated ConfigMap is %q, with suffix %q", settings, suffix)
	}
	for _, c := range []struct {
		kind string
		path []any
		want any
	}{
		{"Deployment", []any{"metadata", "name"}, "{{ .uid }}-web"},
		{"Deployment", []any{"metadata", "labels", "tenant"}, "{{ .uid }}"},
		{"Deployment", []any{"spec", "selector", "matchLabels", "tenant"}, "{{ .uid }}"},
		{"Deployment", []any{"spec", "replicas"}, "{{ .replicas | int }}"},
		{"Deployment", []any{"spec", "template", "spec", "priorityClassName"}, "{{ .class }}"},
		{"Deployment", []any{"spec", "template", "spec", "nodeSelector", "zone"}, "{{ .zone }}"},
		{"Deployment", append(slices.Clone(container), "image"), `web:{{ .tag | default "v1" }}`},
		{"Deployment", append(slices.Clone(container), "envFrom", 0, "configMapRef", "name"), settings},
		{"Deployment", append(slices.Clone(container), "env", 0, "value"), "{{ .uid }} is a value that is longer than the eighty characters at which some writers of YAML fold lines {{ .plan }}"},
		{"Service", []any{"metadata", "name"}, "{{ .uid }}-web"},
		{"Service", []any{"metadata", "annotations"}, nil},
		{"Ingress", []any{"metadata", "annotations", "backend"}, "{{ .uid }}-web"},
		{"Ingress", []any{"metadata", "annotations", "{{ .uid }}"}, "key"},
		{"Ingress", []any{"spec", "rules", 0, "host"}, "{{ .host }}"},
		{"Ingress", []any{"spec", "rules", 0, "http", "paths", 0, "backend", "service", "name"}, "{{ .uid }}-web"},
		{"ConfigMap", []any{"data", "plan"}, "{{ .plan }}"},
		{"ConfigMap", []any{"data", "quote"}, "{{ .uid | quote }}"},
		{"ConfigMap", []any{"data", "app.conf"}, "host = {{ .host }}   # two  spaces, a \"quote\" and a \\ stay\n  {{- if eq .plan \"gold\" }}\nfast = yes\n  {{- end }}\n"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			if got := at(t, texts[c.kind], c.path...); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s %v: %#v, want %#v", c.kind, c.path, got, c.want)
			}
		})
	}
	if want := map[string]string{"Deployment": "base/app.yaml", "Service": "base/app.yaml", "Ingress": "overlay/route.yaml", "ConfigMap": "base/kustomization.yaml"}; !maps.Equal(files, want) {
		t.Errorf("objects come from %v, want %v", files, want)
	}
	want := []string{"base/app.conf", "base/app.yaml", "base/kustomization.yaml", "component/kustomization.yaml", "overlay/kustomization.yaml", "overlay/patch.yaml", "overlay/route.yaml"}
	if got := slices.Sorted(maps.Keys(built.Texts)); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
}

// TestOrigins wants the annotations with origins to stay if the user asked for them.
func TestOrigins(t *testing.T) {
	const object = "\n-- base/app.yaml --\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web}\n"
	for options, annotated := range map[string]bool{
		"": false, "buildMetadata: [managedByLabel]": false, "buildMetadata: [originAnnotations]": true, "buildMetadata:\n- managedByLabel\n- originAnnotations": true,
	} {
		t.Run(options, func(t *testing.T) {
			o := build(t, "base", "-- base/kustomization.yaml --\n# a comment\n---\nresources: [app.yaml]\n"+options+object).Objects[0]
			label := at(t, o.Text, "metadata", "labels", "app.kubernetes.io/managed-by") != nil
			if strings.Contains(o.Text, "config.kubernetes.io/origin") != annotated || label != strings.Contains(options, "managedByLabel") || o.File != "base/app.yaml" {
				t.Errorf("%q: %v", options, o)
			}
		})
	}
}

// TestSortOptions wants the order that the base says, or else that of kubectl kustomize.
func TestSortOptions(t *testing.T) {
	const rest = "-- base/a.yaml --\napiVersion: v1\nkind: Service\nmetadata: {name: web}\n-- base/b.yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n"
	for options, first := range map[string]string{"": "Namespace", "sortOptions: {order: fifo}\n": "Service"} {
		t.Run(options, func(t *testing.T) {
			built := build(t, "base", "-- base/kustomization.yaml --\nresources: [a.yaml, b.yaml]\n"+options+rest)
			if got := at(t, built.Objects[0].Text, "kind"); got != first {
				t.Errorf("%q: %v comes first", options, got)
			}
		})
	}
}

// TestProblems wants each thing that lynqctl doesn't do, and each error, at its file.
func TestProblems(t *testing.T) {
	const object = "\n-- base/app.yaml --\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web}\n"
	for _, c := range []struct{ files, file, what, fix string }{
		{"resources:\n- https://github.com/org/repo//base?ref=v1", "base/kustomization.yaml:2", "resources: https://github.com/org/repo//base?ref=v1 is remote", remoteFix},
		{"resources: [app.yaml, github.com/org/repo]", "base/kustomization.yaml:1", "is remote", remoteFix},
		{"resources: ['git@github.com:org/repo.git']", "base/kustomization.yaml:1", "is remote", remoteFix},
		{"resources: ['ssh://host/repo']", "base/kustomization.yaml:1", "is remote", remoteFix},
		{"components: ['git::https://example.com/repo']", "base/kustomization.yaml:1", "is remote", remoteFix},
		{"bases: [&x 'https://example.com/a.yaml', *x]", "base/kustomization.yaml:1", "is remote", remoteFix},
		{"resources: [app.yaml]\npatches: [{path: 'https://example.com/a.yaml'}]", "base/kustomization.yaml:2", "patches: https://example.com/a.yaml is remote", remoteFix},
		{"configMapGenerator: [{name: a, files: ['a=https://example.com/a']}]", "base/kustomization.yaml:1", "is remote", remoteFix},
		{"openapi: {path: 'https://example.com/a'}", "base/kustomization.yaml:1", "is remote", remoteFix},
		{"resources: ['https:/example.com/a.yaml']", "base/kustomization.yaml:1", "is remote", remoteFix},
		{"resources: ['me@example.com/org/repo']", "base/kustomization.yaml:1", "is remote", remoteFix},
		{"resources: ['file:///srv/repo']", "base/kustomization.yaml:1", "is remote", remoteFix},
		{"helmCharts: [{name: web, repo: 'https://example.com'}]", "base/kustomization.yaml:1", "needs the program helm", helmFix},
		{"generators: [g.yaml]\n-- base/g.yaml --\napiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {name: g}\nname: web\nrepo: https://example.com", "base/kustomization.yaml", "enable-helm", helmFix},
		{"generators: [g.yaml]\n-- base/g.yaml --\napiVersion: example.com/v1\nkind: Maker\nmetadata:\n  name: g\n  annotations: {config.kubernetes.io/function: 'container: {image: example}'}", "base/kustomization.yaml", "external plugins disabled", pluginFix},
		{"generators:\n- |\n  apiVersion: example.com/v1\n  kind: Maker\n  metadata:\n    name: g\n    annotations: {config.kubernetes.io/function: 'exec: {path: ./make}'}", "base/kustomization.yaml", "external plugins disabled", pluginFix},
		{"resources: [app.yaml]\npatches: [{path: none.yaml}]", "base/kustomization.yaml:2", "base/none.yaml doesn't exist", ""},
		{"configMapGenerator:\n- {name: a, files: [key=none.txt]}", "base/kustomization.yaml:2", "base/none.txt doesn't exist", ""},
		{"resources: [none.yaml]", "base/kustomization.yaml:1", "base/none.yaml doesn't exist", "check the name, which begins at the kustomization's directory"},
		{"resources: [../../outside]", "base/kustomization.yaml:1", "../outside is outside the directory of the form's file", "move the form's file into a directory above all bases"},
		{"resources: [../other.yaml]\n-- other.yaml --\na: 1", "base/kustomization.yaml", "is not in or below", "move the file below the kustomization, or give its directory a kustomization of its own"},
		{"resources: [/etc]", "base/kustomization.yaml", "", ""},
		{"resources: [../base]", "base/kustomization.yaml", "cycle detected", ""},
		{"resources: []", "base/kustomization.yaml", "makes no object", ""},
		{"# nothing", "base/kustomization.yaml", "kustomization.yaml is empty", ""},
		{"namePrefix: a\ngenerators: []\nresources:\n- empty.yaml\n-- base/empty.yaml --\n# nothing", "base/kustomization.yaml", "makes no object", "list files with objects in its resources"},
		{"resources: [bad.yaml]\n-- base/bad.yaml --\nkind: ConfigMap\na: b: c", "base/bad.yaml:2", "yaml: mapping values are not allowed in this context", ""},
		{"resources: [bad.yaml]\n-- base/bad.yaml --\nkind: ConfigMap\nmetadata:\n  name: {{ .uid }}", "base/bad.yaml:3", "begins with {{ and has no quotes", quoteFix},
		{"namePrefix: {{ .uid }}-", "base/kustomization.yaml", "", quoteFix},
		{"resources: [app.yaml]\nnothing: 1", "base/kustomization.yaml", "nothing", ""},
	} {
		t.Run(c.files, func(t *testing.T) {
			var b Builder
			dir := write(t, "-- base/kustomization.yaml --\n"+c.files+object)
			built, problems := b.Build(wire.Build{Dir: dir, Base: "base"})
			if len(built.Objects) > 0 || len(problems) == 0 {
				t.Errorf("%s: no problem, %v", c.files, built)
				return
			}
			p := problems[0]
			at := p.File
			if p.Line > 0 {
				at += ":" + string(rune('0'+p.Line))
			}
			if at != c.file || !strings.Contains(p.What, c.what) || c.fix != "" && p.Fix != c.fix {
				t.Errorf("%s:\n%s: %s (%s)", c.files, at, p.What, p.Fix)
			}
			if strings.Contains(p.What, dir) {
				t.Errorf("%s: the directory is in %s", c.files, p.What)
			}
		})
	}
}

// TestNoKustomization wants an error for a base that isn't one.
func TestNoKustomization(t *testing.T) {
	dir := write(t, "-- base/app.yaml --\na: 1\n")
	for base, what := range map[string]string{"base": "unable to find one of", "none": "doesn't exist", "../base": "outside", ".": "unable to find one of"} {
		t.Run(base, func(t *testing.T) {
			var b Builder
			if _, problems := b.Build(wire.Build{Dir: dir, Base: base}); len(problems) != 1 || !strings.Contains(problems[0].What, what) {
				t.Errorf("%s: %v", base, problems)
			}
		})
	}
}

// TestLinks wants no link to lead out of the directory, and no endless way through links.
func TestLinks(t *testing.T) {
	outside := write(t, "-- secret --\npassword\n-- base/kustomization.yaml --\nnamePrefix: a\n")
	for name, c := range map[string]struct{ link, to, kustomization string }{
		"file":      {"base/app.conf", filepath.Join(outside, "secret"), "configMapGenerator: [{name: a, files: [app.conf]}]"},
		"base":      {"base/more", filepath.Join(outside, "base"), "resources: [more]"},
		"itself":    {"base/self", "../base", "resources: [self]"},
		"of itself": {"base/a.yaml", "a.yaml", "resources: [a.yaml]"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, "-- base/kustomization.yaml --\n"+c.kustomization+"\n")
			if err := os.Symlink(c.to, filepath.Join(dir, c.link)); err != nil {
				t.Fatal(err)
			}
			var b Builder
			if built, problems := b.Build(wire.Build{Dir: dir, Base: "base"}); len(built.Objects) > 0 || len(problems) == 0 {
				t.Errorf("%v", built)
			}
		})
	}
	dir := write(t, "-- base/kustomization.yaml --\nresources: [link.yaml]\n-- base/app.yaml --\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web}\n")
	if err := os.Symlink("app.yaml", filepath.Join(dir, "base", "link.yaml")); err != nil {
		t.Fatal(err)
	}
	var b Builder
	if built, problems := b.Build(wire.Build{Dir: dir, Base: "base"}); len(problems) > 0 || built.Objects[0].File != "base/link.yaml" {
		t.Errorf("a link to a file beside it: %v, %v", built, problems)
	}
}

// TestUnreadable wants a problem for a kustomization that can't be read. The library takes it for none.
func TestUnreadable(t *testing.T) {
	dir := write(t, "-- base/app.yaml --\na: 1\n")
	if err := os.WriteFile(filepath.Join(dir, "base", "kustomization.yaml"), make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	var b Builder
	_, problems := b.Build(wire.Build{Dir: dir, Base: "base"})
	if len(problems) != 1 || problems[0].File != "base/kustomization.yaml" || !strings.Contains(problems[0].What, "more than 4 MiB") {
		t.Errorf("%v", problems)
	}
}
