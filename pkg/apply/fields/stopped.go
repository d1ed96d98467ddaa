package fields

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Stopped tells whether another client than lynq scaled a workload to zero. Where no
// form sets the replicas, nothing else tells: a workload without any is ready, and no
// field of lynq's has changed. Who did so is often not known, since the server notes no
// manager of replicas that kubectl scale set to zero.
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
