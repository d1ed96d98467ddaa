package inventory

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Older versions of lynqctl took a record for an object of a node where a row made
// the record's name: what it said was lost, with its labels and its finalizer, and
// it was tracked as an object, whose marks no record has otherwise.

// restoreTries bounds how often a record that changes meanwhile is looked at.
const restoreTries = 5

// overwritten tells whether a ConfigMap with the name of a record was written over
// as an object of a node: it has the marks of one, and why it cannot be read is
// not that a newer lynqctl wrote it.
func overwritten(cm *corev1.ConfigMap, why error) bool {
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

// remains is what others put on a record that was written over: neither what a
// form said of it, nor any tracking.
func remains(cm *corev1.ConfigMap, own *ownKeys) *Others {
	rest := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Labels: without(cm.Labels, lynq.Reserved), Annotations: without(cm.Annotations, lynq.Reserved), Finalizers: cm.Finalizers,
		OwnerReferences: slices.DeleteFunc(slices.Clone(cm.OwnerReferences), ownedByInventory),
	}}
	return othersOf(rest, own)
}

// restore writes a record in the place of what was written over it: with the uid
// that its node's objects have as their owner.
func (s *Store) restore(ctx context.Context, cm, there *corev1.ConfigMap, differs func(*corev1.ConfigMap) error) (*corev1.ConfigMap, error) {
	for try := 1; ; try++ {
		next := cm.DeepCopy()
		next.UID, next.ResourceVersion = there.UID, there.ResourceVersion
		remains(there, nodeKeys()).addTo(next)
		saved, err := s.configMaps.Update(ctx, next)
		if !apierrors.IsConflict(err) || try == restoreTries {
			return saved, err
		}
		if there, err = s.configMaps.Get(ctx, cm.Namespace, cm.Name); err != nil {
			return nil, err
		}
		switch why := differs(there); {
		case why == nil:
			return there, nil
		case !overwritten(there, why):
			return nil, changed(cm.Namespace, cm.Name, "another client changed it meanwhile (run again)", err)
		}
	}
}
