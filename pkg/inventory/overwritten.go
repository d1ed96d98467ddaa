package inventory

import (
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Older versions of lynqctl took a record for an object of a node where a row made
// the record's name: what it said was lost, with its labels and its finalizer, and
// it was tracked as an object, whose marks no record has otherwise.

// Overwritten tells whether a ConfigMap with the name of a record was written over
// as an object of a node: it has the marks of one, and why it cannot be read is
// not that a newer lynqctl wrote it.
func Overwritten(cm *corev1.ConfigMap, why error) bool {
	var wrong *UnreadableError
	var newer *NewerFormatError
	_, object := cm.Annotations[lynq.AnnotationResourceID]
	tracked := cm.Labels[lynq.LabelPartOf] != "" || cm.Labels[lynq.LabelNode] != "" || cm.Labels[lynq.LabelOrphaned] != "" ||
		slices.ContainsFunc(cm.OwnerReferences, ownedByInventory)
	return errors.As(why, &wrong) && !errors.As(why, &newer) && object && tracked && cm.DeletionTimestamp == nil
}

func ownedByInventory(r metav1.OwnerReference) bool {
	_, is := lynq.OwnerNode(r.APIVersion, r.Kind, r.Name)
	return is
}

// InPlaceOf puts a record in the place of what was written over it: with the uid that
// its node's objects have as their owner, and what others put on it.
func InPlaceOf(there, record *corev1.ConfigMap) *corev1.ConfigMap {
	next := record.DeepCopy()
	next.UID, next.ResourceVersion = there.UID, there.ResourceVersion
	remains(there, nodeKeys()).addTo(next)
	return next
}

// OverwrittenHub is what saving makes a record of again, of one that was written over.
func OverwrittenHub(namespace, hub string, cm *corev1.ConfigMap) *Hub {
	return &Hub{
		Name: hub, Namespace: namespace, UID: string(cm.UID), ResourceVersion: cm.ResourceVersion,
		Overwritten: true, Others: remains(cm, hubKeys()),
	}
}

// remains is what others put on a record that was written over: neither what a
// form said of it, nor any tracking.
func remains(cm *corev1.ConfigMap, own *ownKeys) *Others {
	rest := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Labels: without(cm.Labels, lynq.Reserved), Annotations: without(cm.Annotations, lynq.Reserved), Finalizers: cm.Finalizers,
		OwnerReferences: slices.DeleteFunc(slices.Clone(cm.OwnerReferences), ownedByInventory),
	}}
	return othersOf(rest, own)
}
