package harness_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/test/harness"
)

func managed() *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: "lynq", Operation: "Apply", FieldsV1: metav1.NewFieldsV1(
			`{"f:metadata":{"f:labels":{"f:lynq.sh/hub":{}}},"f:spec":{"f:replicas":{},` +
				`"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:image":{}}}}}}}`)},
		{Manager: "hpa", Operation: "Update", Subresource: "scale", FieldsV1: metav1.NewFieldsV1(
			`{"f:spec":{"f:replicas":{}}}`)},
	})
	return obj
}

func TestFieldOwners(t *testing.T) {
	for path, want := range map[string][]string{
		".spec.replicas":                                  {"lynq Apply", "hpa Update/scale"},
		`.metadata.labels["lynq.sh/hub"]`:                 {"lynq Apply"},
		".spec.template.spec.containers[name=web].image":  {"lynq Apply"},
		".spec.template.spec.containers[name=web]":        {"lynq Apply"},
		".spec.template.spec.containers[name=else].image": nil,
		".spec.paused":                                    nil,
	} {
		t.Run(path, func(t *testing.T) {
			got, err := harness.FieldOwners(managed(), path)
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
		})
	}
}

func TestFieldOwnersBadPath(t *testing.T) {
	for _, path := range []string{"spec", ".spec[0]", `.metadata.labels["x`, ".spec.containers[name=web"} {
		t.Run(path, func(t *testing.T) {
			if owners, err := harness.FieldOwners(managed(), path); err == nil {
				t.Errorf("%s: got %v, want an error", path, owners)
			}
		})
	}
}
