package gitops

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ohler55/ojg/jp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// sample has fields, lists and values of all kinds.
const sample = `{"apiVersion": "example.com/v1", "kind": "Thing", "spec": {
  "replicas": 3, "a b": {"c": 1}, "and": {"end": 2}, "empty": null, "text": "x",
  "annotations": {"example.com/a~b": "v", "quote\"d": 1, "single'd": 2, "back\\slash": 3},
  "map": {"one": {"image": "i1"}, "two": {"image": "i2"}, "three": "text"},
  "list": [
    {"name": "app", "image": "a:1", "on": true, "port": 80, "sub": {"x": "y"}, "items": [1, 2]},
    {"name": "sidecar", "image": "s:1", "on": false, "port": 81, "sub": {"x": "z"}, "items": [3]},
    {"name": "qu\"ote", "image": "q:1"}, "text", 7, null, ["deep"]
  ]}}`

// TestJQ wants an Application to ignore the fields in ignoreFields, although jq reads the
// former and lynqctl the latter.
func TestJQ(t *testing.T) {
	t.Parallel()
	paths := []string{
		"$.spec.replicas", "$.spec['a b'].c", "$['spec']['and']['end']", "$.spec.empty", "$.spec.missing.field", "$.spec.text.field",
		"$.spec.annotations['example.com/a~b']", `$.spec.annotations['quote"d']`, `$.spec.annotations['single\'d']`, `$.spec.annotations['back\\slash']`,
		"$.spec.list[0].image", "$.spec.list[-1]", "$.spec.list[-6].image", "$.spec.list[9].image", "$.spec.list[*].image", "$.spec.map.*.image", "$.spec.map[*]",
		"$.spec.list[?(@.name == 'app')].image", "$.spec.list[?@.sub.x == 'z'].port", "$.spec.list[?(@.on == true)]", "$.spec.list[?(@.port == 81)].items[0]",
		`$.spec.list[?(@.name == 'qu"ote')].image`, "$.spec.list[?(@.name == 'app')].items[*]", "$.spec.list[?(@.name == 'nobody')].image",
	}
	var form strings.Builder
	form.WriteString(`
apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: hub}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: web}
spec:
  hubId: hub
  manifests:
`)
	for i, path := range paths {
		fmt.Fprintf(&form, "  - {id: r%d, nameTemplate: x%d, ignoreFields: [%q], spec: {apiVersion: example.com/v1, kind: Thing%d}}\n", i, i, path, i)
	}
	r := newRepository(t, "default")
	r.write(t, "forms.yaml", form.String())
	r.rows(t, "acme,1,,")
	r.renderTree(t, "--target=argo", "--emit-apps=applications", "--repo-url=https://git.example/x")
	rules, _, err := unstructured.NestedSlice(r.apps(t, "Application")["acme-web"].Object, "spec", "ignoreDifferences")
	if err != nil || len(rules) != len(paths) {
		t.Fatalf("%d rules for %d paths: %v", len(rules), len(paths), err)
	}
	for i, path := range paths {
		o := &unstructured.Unstructured{Object: decode(t, []byte(sample))}
		o.SetKind(fmt.Sprintf("Thing%d", i))
		want, err := jp.MustParseString(path).Remove(decode(t, encode(t, o.Object)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, any(ignore(t, rules, o))); diff != "" {
			t.Errorf("%s:\n%s", path, diff)
		}
	}
}
