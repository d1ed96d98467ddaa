package fields

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestPreview wants a preview to keep defaults and fields of others, to change and add the
// fields of the manifest, and to remove those of ours that it lacks.
func TestPreview(t *testing.T) {
	const live = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: acme
  labels: {tier: gold, team: blue}
  managedFields:
    - manager: lynq
      operation: Apply
      apiVersion: apps/v1
      fieldsType: FieldsV1
      fieldsV1: {"f:metadata": {"f:labels": {"f:tier": {}}}, "f:spec": {"f:replicas": {}, "f:paused": {}, "f:template": {"f:spec": {"f:containers": {
        'k:{"name":"app"}': {".": {}, "f:name": {}, "f:image": {}, "f:env": {'k:{"name":"A"}': {".": {}, "f:name": {}, "f:value": {}}, 'k:{"name":"B"}': {".": {}, "f:name": {}, "f:value": {}}},
          "f:resources": {"f:limits": {"f:cpu": {}}}},
        'k:{"name":"side"}': {".": {}, "f:name": {}, "f:image": {}}}}}}}
    - manager: hpa
      operation: Update
      apiVersion: apps/v1
      fieldsType: FieldsV1
      fieldsV1: {"f:metadata": {"f:labels": {"f:team": {}}}, "f:spec": {"f:replicas": {}}}
spec:
  replicas: 3
  paused: true
  strategy: {type: RollingUpdate}
  template:
    spec:
      containers:
        - {name: app, image: "app:1", imagePullPolicy: IfNotPresent, env: [{name: A, value: "1"}, {name: B, value: "2"}], resources: {limits: {cpu: "1"}}}
        - {name: side, image: "side:1"}
`
	const manifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: acme}
spec:
  template:
    spec:
      containers:
        - {name: app, image: "app:2", env: [{name: B, value: "2"}, {name: C, value: "3"}], resources: {limits: {cpu: 1000m}}}
        - {name: new, image: "new:1"}
`
	for _, tt := range []struct {
		removes bool
		want    string
	}{
		{true, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: acme, labels: {team: blue}}
spec:
  replicas: 3
  strategy: {type: RollingUpdate}
  template:
    spec:
      containers:
        - {name: app, image: "app:2", imagePullPolicy: IfNotPresent, env: [{name: B, value: "2"}, {name: C, value: "3"}], resources: {limits: {cpu: "1"}}}
        - {name: new, image: "new:1"}
`},
		{false, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: acme, labels: {tier: gold, team: blue}}
spec:
  replicas: 3
  paused: true
  strategy: {type: RollingUpdate}
  template:
    spec:
      containers:
        - {name: app, image: "app:2", imagePullPolicy: IfNotPresent, env: [{name: A, value: "1"}, {name: B, value: "2"}, {name: C, value: "3"}], resources: {limits: {cpu: "1"}}}
        - {name: side, image: "side:1"}
        - {name: new, image: "new:1"}
`},
	} {
		object := &unstructured.Unstructured{Object: parsed(t, live)}
		got, err := Preview(parsed(t, manifest), object, tt.removes)
		if err != nil {
			t.Fatal(err)
		}
		unstructured.RemoveNestedField(got, "metadata", "managedFields")
		if diff := cmp.Diff(parsed(t, tt.want), got); diff != "" {
			t.Errorf("removes %t (-want +got)\n%s", tt.removes, diff)
		}
		if diff := cmp.Diff(parsed(t, live), object.Object); diff != "" {
			t.Errorf("the live object changed:\n%s", diff)
		}
	}
}

func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	o := unstructured.Unstructured{}
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := o.UnmarshalJSON(b); err != nil {
		t.Fatal(err)
	}
	return o.Object
}
