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

// draft is an object for a write, with its managed fields apart. Every write reads and
// changes those, and few clients ask for them.
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

// copied returns a copy in which callers may set anything, except fields inside the values
// of metadata, spec and the like.
func (d *draft) copied() *draft {
	content := maps.Clone(d.Object)
	if metadata, is := content["metadata"].(map[string]any); is {
		content["metadata"] = maps.Clone(metadata)
	}
	return &draft{&unstructured.Unstructured{Object: content}, d.fields}
}

// stored is an object in the store, with cached values for frequent requests. Nobody ever
// changes it.
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

// whole returns the object with its managed fields.
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

// full returns the metadata of the object.
func (o *stored) full() metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: o.at.name, Namespace: o.at.namespace, UID: o.uid, ResourceVersion: o.GetResourceVersion(), Generation: o.GetGeneration(),
		CreationTimestamp: o.GetCreationTimestamp(), DeletionTimestamp: o.GetDeletionTimestamp(),
		DeletionGracePeriodSeconds: o.GetDeletionGracePeriodSeconds(), Labels: o.labels, Annotations: o.GetAnnotations(),
		OwnerReferences: o.GetOwnerReferences(), Finalizers: o.finalizers, ManagedFields: o.fields,
	}
}
