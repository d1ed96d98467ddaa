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

// Annotations that only the operator has a use for. The second one is of its older
// versions.
const (
	annotationAppliedHash       = wellknown.KeyPrefix + "applied-hash"
	annotationAppliedGeneration = wellknown.KeyPrefix + "applied-generation"
	annotationApplyStart        = wellknown.KeyPrefix + "apply-start-time"
)

// futureRecord is the uid of an inventory that does not exist yet.
const futureRecord types.UID = "00000000-0000-0000-0000-000000000000"

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// change is the metadata that an object is to have.
type change struct {
	labels, annotations map[string]string
	owners              []metav1.OwnerReference
	fields              []metav1.ManagedFieldsEntry
	from                *metav1.PartialObjectMetadata
	newFields           bool
}

// changeOf is what makes an object the node's: tracking and policies as apply has
// them, the LynqNode no owner of it any more, the operator's notes gone, and what
// it managed managed by lynq. It is nil where there is nothing to change.
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

// owners are all that an object is to have: those of others, and the inventory in
// the place of the LynqNode.
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

// patch is the one write that makes a change. It holds for the object as it was
// read only: of another version the server says that it is a conflict, and of
// another uid that the test failed.
func (c *change) patch() ([]byte, error) {
	ops := []operation{
		{"test", "/metadata/uid", string(c.from.UID)},
		{"replace", "/metadata/resourceVersion", c.from.ResourceVersion},
		{"add", "/metadata/labels", c.labels},
		{"add", "/metadata/annotations", c.annotations},
	}
	if len(c.owners)+len(c.from.OwnerReferences) > 0 {
		// Not removed, where none is left: a try whose answer was lost must not
		// find that there is nothing to remove.
		ops = append(ops, operation{"add", "/metadata/ownerReferences", append([]metav1.OwnerReference{}, c.owners...)})
	}
	if c.newFields {
		ops = append(ops, operation{"replace", "/metadata/managedFields", c.fields})
	}
	return json.Marshal(ops)
}

// withoutFinalizers is a JSON patch that takes finalizers off an object as it was
// read; nil where it has none of them.
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
