package render_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/render"
)

// tracking is a form with all kinds of tracked resources.
const tracking = hubYAML + `
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web, namespace: tenants}
spec:
  hubId: crm
  namespaces:
  - id: ns
    nameTemplate: " {{ .uid }}-ns "
    spec: {apiVersion: v1, kind: Namespace}
  configMaps:
  - id: own
    nameTemplate: "{{ .uid }}-own"
    labelsTemplate: {app: "{{ .a }}"}
    annotationsTemplate: {note: "b: {{ .b }}"}
    creationPolicy: Once
    spec:
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: not-this-one
        labels: {lynq.sh/uid: "{{ .uid }}", app: overridden, z: kept}
        annotations: {kept: "yes"}
        finalizers: [example.com/f]
      data: {}
  - id: retained
    nameTemplate: "{{ .uid }}-retained"
    deletionPolicy: Retain
    spec: {apiVersion: v1, kind: ConfigMap}
  - id: elsewhere
    nameTemplate: "{{ .uid }}-elsewhere"
    targetNamespace: other
    spec: {apiVersion: v1, kind: ConfigMap}
  - id: there
    targetNamespace: " {{ .b }} "
    spec: {apiVersion: v1, kind: ConfigMap, metadata: {name: "{{ .uid }}-there", namespace: unused}}
`

// TestTracking checks which objects have the node's labels, and lynqctl's other metadata.
func TestTracking(t *testing.T) {
	p := compileAll(t, load(t, tracking), render.Options{})[0]
	type meta = map[string]any
	for _, c := range []struct {
		b    string
		want []meta
	}{
		{"tenants", []meta{
			{"name": "beta-ns", "labels": meta{"lynq.sh/hub": "crm", "lynq.sh/node": "beta-web", "lynq.sh/node-namespace": "tenants"},
				"annotations": meta{"lynq.sh/deletion-policy": "Delete", "lynq.sh/resource-id": "ns"}},
			{"name": "beta-own", "namespace": "tenants", "labels": meta{"app": "x", "z": "kept", "lynq.sh/uid": "beta", "lynq.sh/hub": "crm"},
				"annotations": meta{"kept": "yes", "note": "b: tenants", "lynq.sh/created-once": "true", "lynq.sh/deletion-policy": "Delete", "lynq.sh/resource-id": "own"},
				"finalizers":  []any{"example.com/f"}},
			{"name": "beta-retained", "namespace": "tenants", "labels": meta{"lynq.sh/hub": "crm", "lynq.sh/node": "beta-web", "lynq.sh/node-namespace": "tenants"},
				"annotations": meta{"lynq.sh/deletion-policy": "Retain", "lynq.sh/resource-id": "retained"}},
			{"name": "beta-elsewhere", "namespace": "other", "labels": meta{"lynq.sh/hub": "crm", "lynq.sh/node": "beta-web", "lynq.sh/node-namespace": "tenants"},
				"annotations": meta{"lynq.sh/deletion-policy": "Delete", "lynq.sh/resource-id": "elsewhere"}},
			{"name": "beta-there", "namespace": "tenants", "labels": meta{"lynq.sh/hub": "crm"},
				"annotations": meta{"lynq.sh/deletion-policy": "Delete", "lynq.sh/resource-id": "there"}},
		}},
		{"far", []meta{nil, nil, nil, nil,
			{"name": "beta-there", "namespace": "far", "labels": meta{"lynq.sh/hub": "crm", "lynq.sh/node": "beta-web", "lynq.sh/node-namespace": "tenants"},
				"annotations": meta{"lynq.sh/deletion-policy": "Delete", "lynq.sh/resource-id": "there"}},
		}},
	} {
		t.Run(c.b, func(t *testing.T) {
			node, problems := p.Node(record{"id": "beta", "a": "x", "b": c.b}.row(p.Hub, 2))
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			for i, want := range c.want {
				if diff := cmp.Diff(want, contentOf(t, node, i)["metadata"]); want != nil && diff != "" {
					t.Errorf("b=%s, object %d: %s", c.b, i, diff)
				}
			}
		})
	}
}

// TestMadeUID has a uid that no label allows.
func TestMadeUID(t *testing.T) {
	text := hubYAML + formYAML("configMaps", `nameTemplate: "{{ .uid | sha1sum | trunc 8 }}x"
spec:
  apiVersion: v1
  kind: ConfigMap
  metadata: {labels: {lynq.sh/uid: "{{ .uid }}"}}
`)
	p := compileAll(t, load(t, text), render.Options{})[0]
	node, problems := p.Node(record{"id": "Acme & Söhne"}.row(p.Hub, 2))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if want := "acme---s-hne-web-79eb4749"; node.Name != want {
		t.Errorf("the node is %s, want %s", node.Name, want)
	}
	meta, _ := contentOf(t, node, 0)["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	if labels["lynq.sh/uid"] != naming.HashedName("Acme & Söhne") || annotations["lynq.sh/uid"] != "Acme & Söhne" {
		t.Errorf("labels %v, annotations %v", labels, annotations)
	}
}

// TestMadeUIDBelow checks that the plain uid is recorded even if only the pods have the
// label.
func TestMadeUIDBelow(t *testing.T) {
	text := hubYAML + formYAML("deployments", `nameTemplate: x
spec:
  apiVersion: apps/v1
  kind: Deployment
  spec: {selector: {matchLabels: {lynq.sh/uid: "{{ .uid }}"}}, template: {metadata: {labels: {lynq.sh/uid: "{{ .uid }}"}}}}
`)
	out := stream(t, text, record{"id": "A&B"})
	if made := naming.HashedName("A&B"); strings.Count(out, "lynq.sh/uid: "+made+"\n") != 2 || !strings.Contains(out, "    lynq.sh/uid: A&B\n") {
		t.Error(out)
	}
}

// TestNodeNamespace checks the order of -n, form, hub, kubeconfig and default.
func TestNodeNamespace(t *testing.T) {
	in := load(t, hubYAML+configMap("a: b"))
	form, hub := *in.Forms[0], *in.Hubs[0]
	for _, c := range []struct{ flag, form, hub, context, want string }{
		{"a", "b", "c", "d", "a"}, {"", "b", "c", "d", "b"}, {"", "", "c", "d", "c"}, {"", "", "", "d", "d"}, {"", "", "", "", "default"},
	} {
		t.Run(c.flag, func(t *testing.T) {
			form.Namespace, hub.Namespace = c.form, c.hub
			p, problems := render.Compile(&form, &hub, render.Options{Namespace: c.flag, FallbackNamespace: c.context})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if p.Namespace != c.want {
				t.Errorf("%+v: namespace %q", c, p.Namespace)
			}
		})
	}
	if _, problems := render.Compile(&form, &hub, render.Options{Namespace: "No"}); len(problems) != 1 {
		t.Errorf("namespace No is accepted: %v", problems)
	}
}

// TestClusterScoped checks kinds without a namespace, from Kubernetes and from
// CustomResourceDefinitions in the inputs.
func TestClusterScoped(t *testing.T) {
	text := hubYAML + `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec: {group: example.com, scope: Cluster, names: {kind: Thing, plural: things}}
---
` + custom("v: 1")
	out := stream(t, text, record{"id": "acme"})
	if strings.Contains(out, "\n  namespace:") || !strings.Contains(out, "lynq.sh/node-namespace: default") {
		t.Errorf("a cluster-scoped object is rendered as\n%s", out)
	}
}

// TestStaticChecks reports names, labels and keys that no row can make valid.
func TestStaticChecks(t *testing.T) {
	const form = `form "web", resource "r", `
	for _, c := range []struct{ resource, want string }{
		{"nameTemplate: My_App\nspec: {apiVersion: v1, kind: ConfigMap}",
			`stdin:17: ` + form + `nameTemplate: name "My_App" isn't valid in Kubernetes (use lowercase letters, digits, '-', and '.', and start and end with a letter or digit)`},
		{"nameTemplate: \"{{ .uid }}_app\"\nspec: {apiVersion: v1, kind: ConfigMap}",
			`stdin:17: ` + form + `nameTemplate: no row can make this a valid name: it has "_" in it (use lowercase letters, digits, '-', and '.', and start and end with a letter or digit)`},
		{"nameTemplate: \"-{{ .uid }}\"\nspec: {apiVersion: v1, kind: ConfigMap}",
			`stdin:17: ` + form + `nameTemplate: no row can make this a valid name: it has "-" in it (use lowercase letters, digits, '-', and '.', and start and end with a letter or digit)`},
		{"nameTemplate: \"{{ .uid }}" + strings.Repeat("x", 254) + "\"\nspec: {apiVersion: v1, kind: ConfigMap}",
			`stdin:17: ` + form + `nameTemplate: no row can make this a valid name: its fixed text alone has more than 253 characters (shorten it)`},
		{"nameTemplate: x\ntargetNamespace: a.b\nspec: {apiVersion: v1, kind: ConfigMap}",
			`stdin:18: ` + form + `targetNamespace: namespace "a.b" isn't valid in Kubernetes (use lowercase letters, digits, and '-', and start and end with a letter or digit)`},
		{"nameTemplate: x\nlabelsTemplate: {app: a b, \"-/x\": v}\nspec: {apiVersion: v1, kind: ConfigMap}",
			`stdin:18: ` + form + `labelsTemplate.-/x: key "-/x" isn't valid in Kubernetes (prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'))
stdin:18: ` + form + `labelsTemplate.app: "a b" cannot be the value of a label (at most 63 letters, digits, dashes, underscores and dots, a letter or digit at both ends)`},
		{"nameTemplate: lynqhub-crm\nspec: {apiVersion: v1, kind: ConfigMap}",
			`stdin:17: ` + form + `nameTemplate: name "lynqhub-crm" is reserved for lynqctl's own records (choose a name that does not begin with lynqnode-, lynqcopy-, lynqhub-, lynqhistory-, lynqplans-)`},
		{"nameTemplate: \" lynqnode-{{ .uid }}\"\nspec: {apiVersion: v1, kind: ConfigMap}",
			`stdin:17: ` + form + `nameTemplate: every row makes this a name that is reserved for lynqctl's own records (choose a name that does not begin with lynqnode-, lynqcopy-, lynqhub-, lynqhistory-, lynqplans-)`},
	} {
		t.Run(c.resource, func(t *testing.T) {
			if got := problemsOf(t, hubYAML+formYAML("configMaps", c.resource), render.Options{}); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.resource, got, c.want)
			}
		})
	}
}

// TestRowChecks reports objects of a row that Kubernetes would refuse.
func TestRowChecks(t *testing.T) {
	long := strings.Repeat("x", 60)
	for _, c := range []struct{ section, resource, want string }{
		{"configMaps", "nameTemplate: \"{{ .a }}\"\nspec: {apiVersion: v1, kind: ConfigMap}",
			`stdin:17: form "web", resource "r", nameTemplate: row "acme": name "A b" isn't valid in Kubernetes (use lowercase letters, digits, '-', and '.', and start and end with a letter or digit)`},
		{"configMaps", "nameTemplate: \"{{ .hostOrUrl }}\"\nspec: {apiVersion: v1, kind: ConfigMap}",
			`stdin:17: form "web", resource "r", nameTemplate: row "acme": the name is empty`},
		{"cronJobs", "nameTemplate: \"{{ .b }}\"\nspec: {apiVersion: batch/v1, kind: CronJob}",
			`stdin:17: form "web", resource "r", nameTemplate: row "acme": name "` + long + `" has 60 characters, at most 52 are allowed, because its Jobs get names with 11 characters more (shorten it, e.g. with trunc 52)`},
		{"configMaps", "nameTemplate: x\ntargetNamespace: \"{{ .a }}\"\nspec: {apiVersion: v1, kind: ConfigMap}",
			`stdin:18: form "web", resource "r", targetNamespace: row "acme": namespace "A b" isn't valid in Kubernetes (use lowercase letters, digits, and '-', and start and end with a letter or digit)`},
		{"configMaps", "nameTemplate: x\nlabelsTemplate: {app: \"{{ .a }}\"}\nspec: {apiVersion: v1, kind: ConfigMap}",
			`stdin:18: form "web", resource "r", labelsTemplate.app: row "acme": "A b" cannot be the value of a label (at most 63 letters, digits, dashes, underscores and dots, a letter or digit at both ends)`},
		{"configMaps", "nameTemplate: x\nannotationsTemplate: {big: '{{ repeat 262144 .a }}'}\nspec: {apiVersion: v1, kind: ConfigMap}",
			`stdin:16: form "web", resource "r", metadata: row "acme": its annotations have 786484 bytes, at most 262144 are allowed`},
		{"manifests", "nameTemplate: \"{{ .a }}:x\"\nspec: {apiVersion: rbac.authorization.k8s.io/v1, kind: Role}", ""},
		{"manifests", "nameTemplate: \"{{ .a }}/x\"\nspec: {apiVersion: rbac.authorization.k8s.io/v1, kind: Role}",
			`stdin:17: form "web", resource "r", nameTemplate: row "acme": name "A b/x" isn't valid in Kubernetes (may not contain '/')`},
	} {
		t.Run(c.section, func(t *testing.T) {
			p := compileAll(t, load(t, hubYAML+formYAML(c.section, c.resource)), render.Options{})[0]
			_, problems := p.Node(record{"id": "acme", "a": "A b", "b": long}.row(p.Hub, 2))
			if got := problems.Error(); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.resource, got, c.want)
			}
		})
	}
}

// TestReservedNames refuses objects with the names of lynqctl's own objects.
func TestReservedNames(t *testing.T) {
	for _, c := range []struct{ section, resource, want string }{
		{"configMaps", "nameTemplate: \"{{ .a }}\"\nspec: {apiVersion: v1, kind: ConfigMap}",
			`stdin:17: form "web", resource "r", nameTemplate: row "acme": name "lynqnode-bolt-web" is reserved for lynqctl's own records (choose a name that does not begin with lynqnode-, lynqcopy-, lynqhub-, lynqhistory-, lynqplans-)`},
		{"configMaps", "nameTemplate: \"lynq{{ trimPrefix `lynq` .a }}\"\nspec: {apiVersion: v1, kind: ConfigMap}",
			`stdin:17: form "web", resource "r", nameTemplate: row "acme": name "lynqnode-bolt-web" is reserved for lynqctl's own records (choose a name that does not begin with lynqnode-, lynqcopy-, lynqhub-, lynqhistory-, lynqplans-)`},
		{"configMaps", "nameTemplate: \"x-{{ .a }}\"\nspec: {apiVersion: v1, kind: ConfigMap}", ""},
		{"secrets", "nameTemplate: \"{{ .a }}\"\nspec: {apiVersion: v1, kind: Secret}", ""},
		{"manifests", "nameTemplate: \"{{ .b }}\"\nspec: {apiVersion: coordination.k8s.io/v1, kind: Lease}",
			`stdin:17: form "web", resource "r", nameTemplate: row "acme": name "lynqctl-crm" is reserved for lynqctl's own records (choose a name that does not begin with lynqctl-, lynqshard-)`},
	} {
		t.Run(c.section, func(t *testing.T) {
			p := compileAll(t, load(t, hubYAML+formYAML(c.section, c.resource)), render.Options{})[0]
			_, problems := p.Node(record{"id": "acme", "a": "lynqnode-bolt-web", "b": "lynqctl-crm"}.row(p.Hub, 2))
			if got := problems.Error(); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.resource, got, c.want)
			}
		})
	}
}
