package apply

import (
	"context"
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/test/harness"
)

// A site is where a test writes: one namespace of the server, with plain
// requests and no retries.
type site struct {
	*harness.Env
	t *testing.T
}

func newSite(t *testing.T) *site {
	t.Helper()
	t.Parallel()
	return &site{Env: trackedCluster.Env(t), t: t}
}

// client finds the client for a manifest.
func (s *site) client(m map[string]any) dynamic.ResourceInterface {
	u := unstructured.Unstructured{Object: m}
	gvr, _ := meta.UnsafeGuessKindToResource(u.GroupVersionKind())
	client := s.Dynamic.Resource(gvr)
	if lynq.ClusterScoped(gvr.Group, u.GetKind()) {
		return client
	}
	ns := u.GetNamespace()
	if ns == "" {
		ns = s.Namespace
	}
	return client.Namespace(ns)
}

// tryApply is a server-side apply.
func (s *site) tryApply(manager string, m map[string]any, force bool, subresources ...string) (*unstructured.Unstructured, error) {
	s.t.Helper()
	return s.client(m).Patch(s.t.Context(), nameIn(m), types.ApplyPatchType, encode1(s.t, m), metav1.PatchOptions{FieldManager: manager, Force: &force}, subresources...)
}

func (s *site) apply(manager string, m map[string]any) *unstructured.Unstructured {
	s.t.Helper()
	return s.must(s.tryApply(manager, m, false))
}

func (s *site) create(manager string, m map[string]any) *unstructured.Unstructured {
	s.t.Helper()
	return s.must(s.tryCreate(manager, m))
}

func (s *site) tryCreate(manager string, m map[string]any) (*unstructured.Unstructured, error) {
	s.t.Helper()
	return s.client(m).Create(s.t.Context(), &unstructured.Unstructured{Object: m}, metav1.CreateOptions{FieldManager: manager})
}

// deleteLater deletes a cluster-scoped object when the test ends. Others go with
// their namespace.
func (s *site) deleteLater(m map[string]any) {
	u := unstructured.Unstructured{Object: m}
	if !lynq.ClusterScoped(u.GroupVersionKind().Group, u.GetKind()) {
		return
	}
	s.t.Cleanup(func() {
		// The test's own context has ended.
		_ = s.client(m).Delete(context.Background(), nameIn(m), metav1.DeleteOptions{})
	})
}

func (s *site) tryUpdate(manager string, m map[string]any) (*unstructured.Unstructured, error) {
	s.t.Helper()
	return s.client(m).Update(s.t.Context(), &unstructured.Unstructured{Object: m}, metav1.UpdateOptions{FieldManager: manager})
}

// unmoved does something with an object as it is, until no controller has written to
// it in between.
func (s *site) unmoved(do func() error) {
	s.t.Helper()
	for {
		err := do()
		switch problemOf(err).kind {
		case problemNone:
			return
		case problemMoved:
		default:
			s.t.Fatal(err)
		}
	}
}

// patch sends a patch for the object that m names.
func (s *site) patch(manager string, m map[string]any, kind types.PatchType, body string, subresources ...string) *unstructured.Unstructured {
	s.t.Helper()
	return s.must(s.client(m).Patch(s.t.Context(), nameIn(m), kind, []byte(body), metav1.PatchOptions{FieldManager: manager}, subresources...))
}

func (s *site) get(m map[string]any) *unstructured.Unstructured {
	s.t.Helper()
	return s.must(s.client(m).Get(s.t.Context(), nameIn(m), metav1.GetOptions{}))
}

func (s *site) must(u *unstructured.Unstructured, err error) *unstructured.Unstructured {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	return u
}

// widgets makes a kind of custom resources whose spec is free but for a list
// with keys, and gives its apiVersion. Each test has a group of its own.
func (s *site) widgets() string {
	s.t.Helper()
	group := s.Namespace + ".example.com"
	crd := parse(s.t, `
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
	s.create("test", crd)
	s.deleteLater(crd)
	s.Wait(s.t, "customresourcedefinition/widgets."+group, harness.ConditionTrue("Established"))
	s.Kubectl(s.t, "", "get", "widgets."+group) // the server serves it
	return group + "/v1"
}

func nameIn(m map[string]any) string {
	return (&unstructured.Unstructured{Object: m}).GetName()
}

// parse reads a manifest as a Body is decoded.
func parse(t testing.TB, text string) map[string]any {
	t.Helper()
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// parsed is parse for what takes objects.
func parsed(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	return &unstructured.Unstructured{Object: parse(t, text)}
}

func encode1(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// with is a copy of a manifest with one field set, or removed with nil.
func with(m map[string]any, v any, fields ...string) map[string]any {
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

// field is a field of an object, nil where it has none.
func field(u *unstructured.Unstructured, fields ...string) any {
	v, _, _ := unstructured.NestedFieldNoCopy(u.Object, fields...)
	return v
}

// gvr is for requests to kinds that do not exist.
func gvr(group, version, resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
}

func patchOptions(manager string) metav1.PatchOptions {
	return metav1.PatchOptions{FieldManager: manager}
}

func dryRun(manager string) metav1.UpdateOptions {
	return metav1.UpdateOptions{FieldManager: manager, DryRun: []string{metav1.DryRunAll}}
}

// unfinalize lets an object go when a test ends.
func (s *site) unfinalize(m map[string]any) {
	_, err := s.client(m).Patch(context.Background(), nameIn(m), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	if err != nil {
		s.t.Log(err)
	}
}

// revisionIs1 is met when the controller of Deployments wrote its annotation.
func revisionIs1() harness.Condition {
	return harness.PathEquals(`.metadata.annotations.deployment\.kubernetes\.io/revision`, "1")
}
