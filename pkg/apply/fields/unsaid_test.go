package fields_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
)

// TestUnsaid checks the fields that lynq manages since the creation of an object, and that
// its manifest doesn't set.
func TestUnsaid(t *testing.T) {
	manifest := map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"tier": "one"}},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"containers": []any{map[string]any{"name": "app", "image": "example.com/app"}},
		}}},
	}
	got, err := fields.Unsaid([]*metav1.FieldsV1{
		metav1.NewFieldsV1(`{
			"f:metadata":{"f:labels":{".":{},"f:tier":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"u\"}":{}}},
			"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:name":{},"f:image":{},"f:imagePullPolicy":{}}}}}}}`),
		metav1.NewFieldsV1(`{"f:spec":{"f:paused":{}}}`),
		nil,
	}, manifest)
	want := []string{".spec.replicas", `.spec.template.spec.containers[name="app"].imagePullPolicy`, ".spec.paused"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := fields.Unsaid([]*metav1.FieldsV1{metav1.NewFieldsV1(`{"f:`)}, manifest); err == nil {
		t.Error("a set that cannot be read is no error")
	}
}
