package fields

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Stopped reports whether another client scaled a workload to zero. If the form sets no
// replicas, nothing else shows it. A workload without replicas is ready, and no field of
// lynq has changed. The client is often not known, because the server notes no manager if
// kubectl scale sets replicas to zero.
func Stopped(o *unstructured.Unstructured, managed []metav1.ManagedFieldsEntry) bool {
	replicas, said, err := unstructured.NestedInt64(o.Object, "spec", "replicas")
	if err != nil || !said || replicas != 0 {
		return false
	}
	for i := range managed {
		if e := &managed[i]; e.Manager == wellknown.FieldManager {
			set, err := fieldsOf(e)
			if err != nil || set.Has(fieldpath.MakePathOrDie("spec", "replicas")) {
				return false
			}
		}
	}
	return true
}
