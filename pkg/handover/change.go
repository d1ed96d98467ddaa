package handover

import (
	"encoding/json"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Annotations that only the operator uses. Its older versions wrote the second one.
const (
	annotationAppliedHash       = wellknown.KeyPrefix + "applied-hash"
	annotationAppliedGeneration = wellknown.KeyPrefix + "applied-generation"
	annotationApplyStart        = wellknown.KeyPrefix + "apply-start-time"
)

// futureRecord is the uid of an inventory that doesn't exist yet, for dry runs.
const futureRecord types.UID = "00000000-0000-0000-0000-000000000000"

// operation is an operation of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// change is the metadata that an object gets.
type change struct {
	labels, annotations map[string]string
	owners              []metav1.OwnerReference
	fields              []metav1.ManagedFieldsEntry
	from                *metav1.PartialObjectMetadata
	newFields           bool
}

// changeOf returns the change that gives an object to the node. The object gets tracking and
// policies as from apply, and the fields of the operator as fields of lynqctl. The LynqNode
// no longer owns it, and the operator's annotations go. The result is nil if nothing changes.
func changeOf(n *Node, f *Found, record types.UID) (*change, error) {
	c := &change{labels: clone(f.Meta.Labels), annotations: clone(f.Meta.Annotations), from: f.Meta}
	key := n.Key()
	c.labels[wellknown.LabelHub] = n.Hub
	c.labels[wellknown.LabelPartOf] = inventory.ID(key.Namespace, inventory.Name(key.Name))
	for _, label := range lynq.NodeLabelKeys() {
		delete(c.labels, label)
	}
	if !f.owned(n) {
		maps.Copy(c.labels, lynq.NodeLabels(n.NodeID().Hub, key))
	}
	c.annotations[wellknown.AnnotationDeletionPolicy] = string(f.Deletion)
	c.annotations[wellknown.AnnotationResourceID] = f.ID
	if f.Creation.Once() {
		c.annotations[wellknown.AnnotationCreatedOnce] = "true"
	}
	for _, notes := range []string{annotationAppliedHash, annotationAppliedGeneration, annotationApplyStart} {
		delete(c.annotations, notes)
	}
	c.owners = owners(n, f, record)
	var err error
	if c.fields, c.newFields, err = takenFields(f.Meta.ManagedFields, f.Patch); err != nil {
		return nil, err
	}
	if !c.newFields && maps.Equal(c.labels, f.Meta.Labels) && maps.Equal(c.annotations, f.Meta.Annotations) && c.sameOwners() {
		return nil, nil
	}
	return c, nil
}

func clone(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return maps.Clone(m)
}

// owners returns the owner references of the changed object: those to others, and one to the
// inventory instead of the LynqNode.
func owners(n *Node, f *Found, record types.UID) []metav1.OwnerReference {
	kept := slices.DeleteFunc(slices.Clone(f.Meta.OwnerReferences), func(r metav1.OwnerReference) bool {
		_, isRecord := wellknown.OwnerNode(r.APIVersion, r.Kind, r.Name)
		return r.UID == n.UID || isRecord
	})
	if !f.owned(n) {
		return kept
	}
	if record == "" {
		record = futureRecord
	}
	yes := true
	return append(kept, metav1.OwnerReference{
		APIVersion: "v1", Kind: "ConfigMap", Name: inventory.Name(n.Key().Name), UID: record,
		Controller: &yes,
	})
}

func (c *change) sameOwners() bool {
	same := func(a, b metav1.OwnerReference) bool { return a.UID == b.UID && a.Kind == b.Kind && a.Name == b.Name }
	return slices.EqualFunc(c.owners, c.from.OwnerReferences, same)
}

// patch returns the JSON patch that makes the change in one write. It works only for the
// object that lynqctl read: the server refuses another version as a conflict, and another uid
// by the test.
func (c *change) patch() ([]byte, error) {
	ops := []operation{
		{"test", "/metadata/uid", string(c.from.UID)},
		{"replace", "/metadata/resourceVersion", c.from.ResourceVersion},
		{"add", "/metadata/labels", c.labels},
		{"add", "/metadata/annotations", c.annotations},
	}
	if len(c.owners)+len(c.from.OwnerReferences) > 0 {
		// An empty list replaces the last reference. To remove the field would fail in a second
		// try, after an answer was lost.
		ops = append(ops, operation{"add", "/metadata/ownerReferences", append([]metav1.OwnerReference{}, c.owners...)})
	}
	if c.newFields {
		ops = append(ops, operation{"replace", "/metadata/managedFields", c.fields})
	}
	return json.Marshal(ops)
}

// withoutFinalizers returns a JSON patch that removes a finalizer from the object that
// lynqctl read, or nil if it doesn't have it.
func withoutFinalizers(uid types.UID, version string, finalizers []string, remove string) ([]byte, error) {
	at := slices.Index(finalizers, remove)
	if at < 0 {
		return nil, nil
	}
	kept := slices.Delete(slices.Clone(finalizers), at, at+1)
	return json.Marshal([]operation{
		{"test", "/metadata/uid", string(uid)},
		{"replace", "/metadata/resourceVersion", version},
		{"add", "/metadata/finalizers", kept},
	})
}
