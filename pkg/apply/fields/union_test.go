package fields

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/test/sites"
)

// TestLeftovers checks which fields lynqctl drops after a refusal, and that it never drops
// one of another manager.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	by := func(manager, fields string) string {
		return "metadata: {managedFields: [{manager: " + manager + ", operation: Update, apiVersion: apps/v1, fieldsType: FieldsV1, fieldsV1: " + fields + "}]}, "
	}
	const lynq, strategy = "lynq", "{'f:spec': {'f:strategy': {'f:rollingUpdate': {'f:maxSurge': {}}}}}"
	volumes := by(lynq, `{'f:spec': {'f:volumes': {'k:{"name":"a"}': {}, 'k:{"name":"b"}': {}}}}`)
	for name, tt := range map[string]struct{ manifest, live, path, want, set string }{
		"a default":         {"{spec: {strategy: {type: Recreate}}}", "{spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}}", "spec.strategy.rollingUpdate", "{spec: {strategy: {type: Recreate, rollingUpdate: null}}}", ".spec.strategy.rollingUpdate"},
		"ours":              {"{spec: {strategy: {type: Recreate}}}", "{" + by(lynq, strategy) + "spec: {strategy: {rollingUpdate: {maxSurge: 1}}}}", "spec.strategy.rollingUpdate", "{spec: {strategy: {type: Recreate, rollingUpdate: null}}}", ".spec.strategy.rollingUpdate"},
		"another manager's": {"{spec: {strategy: {type: Recreate}}}", "{" + by("kubectl-edit", strategy) + "spec: {strategy: {rollingUpdate: {maxSurge: 1}}}}", "spec.strategy.rollingUpdate", "{spec: {strategy: {type: Recreate}}}", ""},
		"the form's own":    {"{spec: {strategy: {rollingUpdate: {maxSurge: 1}}}}", "{spec: {strategy: {type: Recreate, rollingUpdate: {maxSurge: 2}}}}", "spec.strategy.rollingUpdate", "{spec: {strategy: {rollingUpdate: {maxSurge: 1}}}}", ""},
		"a rival in a list": {
			"{spec: {volumes: [{name: b, secret: {secretName: s}}, {name: c, emptyDir: {}}]}}", "{" + volumes + "spec: {volumes: [{name: a, emptyDir: {}}, {name: b, emptyDir: {}}]}}", "spec.volumes[1].secret",
			"{spec: {volumes: [{name: b, secret: {secretName: s}, emptyDir: null}, {name: c, emptyDir: {}}]}}", `.spec.volumes[name="b"].emptyDir`,
		},
		"a misspelled path":    {"{spec: {volumes: [{name: a, downwardAPI: {}}]}}", "{" + volumes + "spec: {volumes: [{name: a, emptyDir: {}}]}}", "spec.volumes[0].downwarAPI", "{spec: {volumes: [{name: a, downwardAPI: {}, emptyDir: null}]}}", `.spec.volumes[name="a"].emptyDir`},
		"the union's own path": {"{spec: {maxUnavailable: 1}}", "{spec: {minAvailable: 1, selector: {}}}", "spec", "{spec: {maxUnavailable: 1, minAvailable: null}}", ".spec.minAvailable"},
		"no union":             {"{spec: {replicas: 1}}", "{spec: {replicas: 2, paused: true}}", "spec.replicas", "{spec: {replicas: 1}}", ""},
		"nothing there":        {"{spec: {a: 1}}", "{}", "spec.b", "{spec: {a: 1}}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, set, err := Leftovers(sites.Parse(t, tt.manifest), &unstructured.Unstructured{Object: sites.Parse(t, tt.live)}, []string{tt.path})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(sites.Parse(t, tt.want), got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			if text := set.String(); text != tt.set {
				t.Errorf("%s: it drops %s, want %s", name, text, tt.set)
			}
		})
	}
}

// TestFieldsOfPath splits the server's paths.
func TestFieldsOfPath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][]string{
		"spec.a":                 {"spec", "a"},
		"spec.a[0].b":            {"spec", "a", "[]", "b"},
		"metadata.labels[a.b/c]": {"metadata", "labels", "[]"},
		"a[0][1]":                {"a", "[]", "[]"},
		"":                       nil,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(want, fieldsOfPath(path)); diff != "" {
				t.Errorf("%s: %s", path, diff)
			}
		})
	}
}

// TestYield checks which empty values give way to which managers.
func TestYield(t *testing.T) {
	t.Parallel()
	const live = "{apiVersion: example.com/v1, kind: Widget, spec: {host: h, list: [x], map: {a: b}, theirs: t, none: n}, metadata: {managedFields: [" +
		"{manager: operator, operation: Update, apiVersion: example.com/v1, fieldsType: FieldsV1, fieldsV1: {'f:spec': {'f:host': {}, 'f:list': {}, 'f:map': {'f:a': {}}}}}, " +
		"{manager: operator, operation: Update, subresource: status, apiVersion: example.com/v1, fieldsType: FieldsV1, fieldsV1: {'f:status': {}}}, " +
		"{manager: kubectl-edit, operation: Update, apiVersion: example.com/v1, fieldsType: FieldsV1, fieldsV1: {'f:spec': {'f:theirs': {}, 'f:none': {}}}}]}}"
	for name, tt := range map[string]struct{ manifest, want, carried string }{
		"a controller's text":    {"{spec: {host: ''}}", "{spec: {}}", "{spec: {host: h}}"},
		"a controller's list":    {"{spec: {list: []}}", "{spec: {}}", "{spec: {list: [x]}}"},
		"a map with its content": {"{spec: {map: {}}}", "{spec: {map: {}}}", "{spec: {map: {a: b}}}"},
		"a value":                {"{spec: {host: i}}", "{spec: {host: i}}", "{spec: {host: i}}"},
		"a person's text":        {"{spec: {theirs: ''}}", "{spec: {theirs: ''}}", "{spec: {theirs: ''}}"},
		"null":                   {"{spec: {none: null}}", "{spec: {}}", "{spec: {none: n}}"},
		"null that nobody has":   {"{spec: {other: null}}", "{spec: {other: null}}", "{spec: {other: null}}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for carry, want := range map[bool]string{false: tt.want, true: tt.carried} {
				m := sites.Parse(t, tt.manifest)
				m["apiVersion"], m["kind"] = "example.com/v1", "Widget"
				got, err := Yield(m, &unstructured.Unstructured{Object: sites.Parse(t, live)}, carry)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(sites.Parse(t, want)["spec"], got["spec"]); diff != "" {
					t.Errorf("%s, carry %t: %s", name, carry, diff)
				}
			}
		})
	}
}
