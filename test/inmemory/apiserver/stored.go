package apiserver

import (
	"encoding/json"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// draft is an object that is being written, beside its managed fields. These are apart
// because every write reads and changes them, and few clients ask for them.
type draft struct {
	*unstructured.Unstructured
	fields []metav1.ManagedFieldsEntry
}

// draftOf takes the managed fields out of an object.
func draftOf(content map[string]any) *draft {
	d := &draft{Unstructured: &unstructured.Unstructured{Object: content}}
	if metadata, is := content["metadata"].(map[string]any); is && metadata["managedFields"] != nil {
		d.fields = d.Unstructured.GetManagedFields()
		delete(metadata, "managedFields")
	}
	return d
}

// GetManagedFields implements metav1.Object.
func (d *draft) GetManagedFields() []metav1.ManagedFieldsEntry { return d.fields }

// SetManagedFields implements metav1.Object.
func (d *draft) SetManagedFields(fields []metav1.ManagedFieldsEntry) { d.fields = fields }

// DeepCopyObject implements runtime.Object.
func (d *draft) DeepCopyObject() runtime.Object {
	return &draft{d.DeepCopy(), slices.Clone(d.fields)}
}

// copied is a copy of which everything but the fields of what is in metadata, spec and the
// like may be set.
func (d *draft) copied() *draft {
	content := maps.Clone(d.Object)
	if metadata, is := content["metadata"].(map[string]any); is {
		content["metadata"] = maps.Clone(metadata)
	}
	return &draft{&unstructured.Unstructured{Object: content}, d.fields}
}

// stored is an object as the server has it, with what requests ask for again and again.
// None is ever changed.
type stored struct {
	*draft
	at         key
	uid        types.UID
	owners     []types.UID
	labels     map[string]string
	finalizers []string
	deleting   bool
	encoded    [forms][]byte // see Server.encoded
}

func newStored(at key, d *draft) *stored {
	o := &stored{
		draft: d, at: at, uid: d.GetUID(), labels: d.GetLabels(), finalizers: d.GetFinalizers(),
		deleting: d.GetDeletionTimestamp() != nil,
	}
	for _, owner := range d.GetOwnerReferences() {
		o.owners = append(o.owners, owner.UID)
	}
	return o
}

// whole is the object with its managed fields.
func (d *draft) whole() (map[string]any, error) {
	if len(d.fields) == 0 {
		return d.Object, nil
	}
	text, err := json.Marshal(d.fields)
	all := d.copied().Object
	if metadata, is := all["metadata"].(map[string]any); is {
		metadata["managedFields"] = json.RawMessage(text)
	}
	return all, err
}

// full is the metadata of the object.
func (o *stored) full() metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: o.at.name, Namespace: o.at.namespace, UID: o.uid, ResourceVersion: o.GetResourceVersion(), Generation: o.GetGeneration(),
		CreationTimestamp: o.GetCreationTimestamp(), DeletionTimestamp: o.GetDeletionTimestamp(),
		DeletionGracePeriodSeconds: o.GetDeletionGracePeriodSeconds(), Labels: o.labels, Annotations: o.GetAnnotations(),
		OwnerReferences: o.GetOwnerReferences(), Finalizers: o.finalizers, ManagedFields: o.fields,
	}
}
