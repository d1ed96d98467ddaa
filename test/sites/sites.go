// Package sites gives tests a namespace of a real server, with plain requests like those of
// other clients.
//
// Manifests flow in, objects of the server flow out. A request may use any field manager.
// The package never retries a failed request.
package sites

import (
	"context"
	"encoding/json"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/test/harness"
)

// Site is one namespace of the server, with plain requests and no retries.
type Site struct {
	*harness.Env
	T *testing.T
}

// New returns a Site for a parallel test.
func New(t *testing.T, cluster *harness.Shared) *Site {
	t.Helper()
	t.Parallel()
	return &Site{Env: cluster.Env(t), T: t}
}

// Client returns the client for a manifest.
func (s *Site) Client(m map[string]any) dynamic.ResourceInterface {
	u := unstructured.Unstructured{Object: m}
	gvr, _ := meta.UnsafeGuessKindToResource(u.GroupVersionKind())
	client := s.Dynamic.Resource(gvr)
	if kinds.ClusterScoped(gvr.Group, u.GetKind()) {
		return client
	}
	ns := u.GetNamespace()
	if ns == "" {
		ns = s.Namespace
	}
	return client.Namespace(ns)
}

// TryApply sends a server-side apply.
func (s *Site) TryApply(manager string, m map[string]any, force bool, subresources ...string) (*unstructured.Unstructured, error) {
	s.T.Helper()
	return s.Client(m).Patch(s.T.Context(), NameIn(m), types.ApplyPatchType, Encode(s.T, m), metav1.PatchOptions{FieldManager: manager, Force: &force}, subresources...)
}

// Apply works like TryApply. It must succeed, and takes no fields.
func (s *Site) Apply(manager string, m map[string]any) *unstructured.Unstructured {
	s.T.Helper()
	return s.Must(s.TryApply(manager, m, false))
}

// Create works like TryCreate, and must succeed.
func (s *Site) Create(manager string, m map[string]any) *unstructured.Unstructured {
	s.T.Helper()
	return s.Must(s.TryCreate(manager, m))
}

// TryCreate creates an object.
func (s *Site) TryCreate(manager string, m map[string]any) (*unstructured.Unstructured, error) {
	s.T.Helper()
	return s.Client(m).Create(s.T.Context(), &unstructured.Unstructured{Object: m}, metav1.CreateOptions{FieldManager: manager})
}

// DeleteLater deletes a cluster-scoped object when the test ends. Other objects leave with
// their namespace.
func (s *Site) DeleteLater(m map[string]any) {
	u := unstructured.Unstructured{Object: m}
	if !kinds.ClusterScoped(u.GroupVersionKind().Group, u.GetKind()) {
		return
	}
	s.T.Cleanup(func() {
		// The test's own context has ended.
		_ = s.Client(m).Delete(context.Background(), NameIn(m), metav1.DeleteOptions{})
	})
}

// TryUpdate replaces an object.
func (s *Site) TryUpdate(manager string, m map[string]any) (*unstructured.Unstructured, error) {
	s.T.Helper()
	return s.Client(m).Update(s.T.Context(), &unstructured.Unstructured{Object: m}, metav1.UpdateOptions{FieldManager: manager})
}

// Unmoved calls do again until no controller changed the object in between.
func (s *Site) Unmoved(do func() error) {
	s.T.Helper()
	for {
		err := do()
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) {
			s.T.Fatal(err)
		}
	}
}

// Patch sends a patch for the object that m names.
func (s *Site) Patch(manager string, m map[string]any, kind types.PatchType, body string, subresources ...string) *unstructured.Unstructured {
	s.T.Helper()
	return s.Must(s.Client(m).Patch(s.T.Context(), NameIn(m), kind, []byte(body), metav1.PatchOptions{FieldManager: manager}, subresources...))
}

// Get reads the object that m names.
func (s *Site) Get(m map[string]any) *unstructured.Unstructured {
	s.T.Helper()
	return s.Must(s.Client(m).Get(s.T.Context(), NameIn(m), metav1.GetOptions{}))
}

// Must fails the test with the error of a request.
func (s *Site) Must(u *unstructured.Unstructured, err error) *unstructured.Unstructured {
	s.T.Helper()
	if err != nil {
		s.T.Fatal(err)
	}
	return u
}

// Widgets defines a custom resource and returns its apiVersion. Its spec accepts any
// fields, and has a list with keys. Each test has its own group.
func (s *Site) Widgets() string {
	s.T.Helper()
	group := s.Namespace + ".example.com"
	crd := Parse(s.T, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.`+group+`}
spec:
  group: `+group+`
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-preserve-unknown-fields: true
        properties:
          spec:
            type: object
            x-kubernetes-preserve-unknown-fields: true
            properties:
              size: {type: integer, default: 3}
              fixed:
                type: string
                x-kubernetes-validations: [{rule: self == oldSelf, message: Value is immutable}]
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  x-kubernetes-preserve-unknown-fields: true
                  properties: {name: {type: string}}
              tags:
                type: array
                x-kubernetes-list-type: set
                items: {type: string}
`)
	s.Create("test", crd)
	s.DeleteLater(crd)
	s.Wait(s.T, "customresourcedefinition/widgets."+group, harness.ConditionTrue("Established"))
	s.Kubectl(s.T, "", "get", "widgets."+group) // this waits until the server serves it
	return group + "/v1"
}

// NameIn returns the name of a manifest.
func NameIn(m map[string]any) string {
	return (&unstructured.Unstructured{Object: m}).GetName()
}

// Parse parses a manifest with the number types of a decoded body.
func Parse(t testing.TB, text string) map[string]any {
	t.Helper()
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := utiljson.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// Parsed works like Parse, and returns an object.
func Parsed(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	return &unstructured.Unstructured{Object: Parse(t, text)}
}

// Encode returns a manifest as JSON.
func Encode(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// With returns a copy of a manifest with one field set, or removed with nil.
func With(m map[string]any, v any, fields ...string) map[string]any {
	m = runtime.DeepCopyJSON(m)
	if v == nil {
		unstructured.RemoveNestedField(m, fields...)
		return m
	}
	if err := unstructured.SetNestedField(m, v, fields...); err != nil {
		m["error"] = err.Error()
	}
	return m
}

// Field returns a field of an object, or nil.
func Field(u *unstructured.Unstructured, fields ...string) any {
	v, _, _ := unstructured.NestedFieldNoCopy(u.Object, fields...)
	return v
}

// GVR is for requests to kinds that don't exist.
func GVR(group, version, resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
}

// PatchOptions returns the options of a patch by a manager.
func PatchOptions(manager string) metav1.PatchOptions {
	return metav1.PatchOptions{FieldManager: manager}
}

// DryRun returns the options of an update by a manager as a dry run.
func DryRun(manager string) metav1.UpdateOptions {
	return metav1.UpdateOptions{FieldManager: manager, DryRun: []string{metav1.DryRunAll}}
}

// Unfinalize removes an object's finalizers when a test ends.
func (s *Site) Unfinalize(m map[string]any) {
	_, err := s.Client(m).Patch(context.Background(), NameIn(m), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	if err != nil {
		s.T.Log(err)
	}
}

// RevisionIs1 is met when the controller of Deployments wrote its annotation.
func RevisionIs1() harness.Condition {
	return harness.PathEquals(`.metadata.annotations.deployment\.kubernetes\.io/revision`, "1")
}

// Manifests that many tests use.
const (
	WebDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: app
        image: app:1
        ports: [{containerPort: 80}, {name: dns, containerPort: 53, protocol: UDP}]
        env: [{name: A, value: a}, {name: B, value: b}]
        resources: {requests: {cpu: "1"}}
      - name: side
        image: side:1
`
	Settings = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: green, size: "1"}
`
)

// WithContainer returns a copy of a manifest with one field of a container set.
func WithContainer(m map[string]any, i int, field string, v any) map[string]any {
	m = runtime.DeepCopyJSON(m)
	SetIn(ContainersOf(m)[i], field, v)
	return m
}

// SetIn sets a field of an item of a list.
func SetIn(item any, field string, v any) {
	if m, ok := item.(map[string]any); ok {
		m[field] = v
	}
}

// ContainersOf returns the containers in a manifest's pod template.
func ContainersOf(m map[string]any) []any {
	c, _, _ := unstructured.NestedFieldNoCopy(m, "spec", "template", "spec", "containers")
	list, _ := c.([]any)
	return list
}
