package fields_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/fields"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Another client stopped a workload without replicas, unless lynq itself manages their
// number.
func TestStopped(t *testing.T) {
	replicas, image := `{"f:spec":{"f:replicas":{}}}`, `{"f:spec":{"f:template":{}}}`
	for name, tt := range map[string]struct {
		replicas any
		managers map[string]string
		want     bool
	}{
		"kubectl scale":     {int64(0), map[string]string{wellknown.FieldManager: image}, true},
		"kubectl edit":      {int64(0), map[string]string{wellknown.FieldManager: image, "kubectl-edit": replicas}, true},
		"by its form":       {int64(0), map[string]string{wellknown.FieldManager: replicas}, false},
		"by both":           {int64(0), map[string]string{wellknown.FieldManager: replicas, "kubectl": replicas}, false},
		"not to zero":       {int64(1), map[string]string{"kubectl": replicas}, false},
		"no replicas":       {nil, map[string]string{"kubectl": replicas}, false},
		"not readable":      {int64(0), map[string]string{wellknown.FieldManager: `{"f:spec":`}, false},
		"replicas are text": {"0", map[string]string{"kubectl": replicas}, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
			if tt.replicas != nil {
				o.Object["spec"] = map[string]any{"replicas": tt.replicas}
			}
			var managed []metav1.ManagedFieldsEntry
			for manager, set := range tt.managers {
				e := metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "apps/v1", FieldsV1: &metav1.FieldsV1{}}
				e.FieldsV1.SetRawString(set)
				managed = append(managed, e)
			}
			if got := fields.Stopped(o, managed); got != tt.want {
				t.Errorf("%t", got)
			}
		})
	}
}
