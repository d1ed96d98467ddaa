package tracking

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/ready"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// LiveOf returns the part of an object's metadata that apply keeps. It doesn't keep the
// metadata itself.
func LiveOf(ref lynq.Ref, m *metav1.PartialObjectMetadata) Live {
	l := Live{
		Ref: ref, UID: m.UID, ResourceVersion: m.ResourceVersion, Generation: m.Generation,
		Deleting:       m.DeletionTimestamp != nil,
		Hub:            lynq.Shared(m.Labels[wellknown.LabelHub]),
		HubNamespace:   lynq.Shared(m.Labels[wellknown.LabelHubNamespace]),
		Node:           m.Labels[wellknown.LabelNode],
		NodeNamespace:  lynq.Shared(m.Labels[wellknown.LabelNodeNamespace]),
		PartOf:         lynq.Shared(m.Labels[wellknown.LabelPartOf]),
		ResourceID:     lynq.Shared(m.Annotations[wellknown.AnnotationResourceID]),
		DeletionPolicy: lynq.DeletionPolicy(lynq.Shared(m.Annotations[wellknown.AnnotationDeletionPolicy])),
		Mark:           m.Annotations[wellknown.AnnotationDigest],
		Orphaned:       m.Labels[wellknown.LabelOrphaned] == "true",
		Data:           m.Annotations[wellknown.AnnotationHoldsData] == "true",
		CreatedOnce:    m.Annotations[wellknown.AnnotationCreatedOnce] == "true",
		Unmanaged:      m.Annotations[wellknown.AnnotationMode] == wellknown.ModeUnmanaged,
		Record:         neverManaged(ref, m.Labels),
		Adopted:        m.Annotations[wellknown.AnnotationAdopted] == "true",
	}
	l.Namespace = lynq.Shared(ref.Namespace)
	l.setLastWriter(m.ManagedFields)
	rare := Rare{Ending: ready.Ending(m), OrphanedFrom: m.Annotations[wellknown.AnnotationOrphanedFrom], Foreign: foreignOwner(ref, m)}
	l.setOwners(&rare, m.OwnerReferences)
	l.setManagers(&rare, m.ManagedFields)
	rare.setAppliedBy(m.ManagedFields)
	rare.setOthers(m.ManagedFields)
	l.keep(rare)
	l.ClientSide = toolsManage(m.ManagedFields)
	return l
}

// neverManaged reports whether an object is a record, or belongs to the operator, and so
// never to a node. It checks the name too, because somebody may have removed the label.
func neverManaged(ref lynq.Ref, labels map[string]string) bool {
	_, labelled := labels[wellknown.LabelRecord]
	return labelled || ref.NeverManaged()
}

// setOwners notes the owners of the object, and its controller if that isn't a record.
func (l *Live) setOwners(rare *Rare, refs []metav1.OwnerReference) {
	if len(refs) == 0 {
		return
	}
	l.Owners = make([]types.UID, len(refs))
	for i := range refs {
		r := &refs[i]
		l.Owners[i] = types.UID(lynq.Shared(string(r.UID)))
		if _, node := wellknown.OwnerNode(r.APIVersion, r.Kind, r.Name); r.Controller != nil && *r.Controller && !node {
			rare.Controller, rare.ControllerUID = r.Kind+"/"+r.Name, r.UID
		}
	}
}

// setManagers notes how lynq manages the object's fields.
func (l *Live) setManagers(rare *Rare, entries []metav1.ManagedFieldsEntry) {
	for i := range entries {
		e := &entries[i]
		switch {
		case e.Subresource != "":
		case e.Manager == wellknown.FieldManager && e.Operation == metav1.ManagedFieldsOperationApply:
			l.Fields = fieldsHash(e)
		case e.Manager == wellknown.FieldManager:
			l.Updated = true
			rare.Updates = append(rare.Updates, updateOf(e))
		}
	}
}

// setAppliedBy finds the managers that changed fields by server-side apply since lynq wrote.
func (r *Rare) setAppliedBy(entries []metav1.ManagedFieldsEntry) {
	var ours time.Time
	for i := range entries {
		if e := &entries[i]; e.Manager == wellknown.FieldManager && e.Subresource == "" && e.Time != nil {
			ours = later(ours, e.Time.Time)
		}
	}
	for i := range entries {
		e := &entries[i]
		if e.Manager != wellknown.FieldManager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == "" &&
			e.Time != nil && !e.Time.Time.Before(ours) {
			r.AppliedBy = append(r.AppliedBy, e.Manager)
		}
	}
}

// setOthers notes the fields that others wrote since lynq applied, and those that lynq still
// manages. It ignores writes of the status, and entries of another API version.
func (r *Rare) setOthers(entries []metav1.ManagedFieldsEntry) {
	var applied *metav1.ManagedFieldsEntry
	for i := range entries {
		if e := &entries[i]; e.Manager == wellknown.FieldManager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == "" {
			applied = e
		}
	}
	if applied == nil || applied.Time == nil {
		return
	}
	var ours []*metav1.FieldsV1
	for i := range entries {
		switch e := &entries[i]; {
		case e.Manager == wellknown.FieldManager:
			ours = append(ours, e.FieldsV1)
		case e.Subresource == "status", e.Time == nil, e.Time.Time.Before(applied.Time.Time), e.APIVersion != applied.APIVersion:
		default:
			r.Others = append(r.Others, e.FieldsV1)
		}
	}
	if r.Others != nil {
		r.Ours = ours
	}
}

// setLastWriter finds out whether others wrote after lynq applied. Times are whole seconds,
// so a write in the same second may have been later.
func (l *Live) setLastWriter(entries []metav1.ManagedFieldsEntry) {
	var ours, status, rest time.Time
	for i := range entries {
		e := &entries[i]
		switch {
		case e.Time == nil:
			return
		case e.Manager == wellknown.FieldManager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == "":
			ours = e.Time.Time
		case e.Subresource == "status":
			status = later(status, e.Time.Time)
		default:
			rest = later(rest, e.Time.Time)
		}
	}
	l.LastButStatus = ours.After(rest)
	l.Last = l.LastButStatus && ours.After(status)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// fieldsHash returns 16 hex digits of a SHA-256 of an entry, with its fields, version and
// time. The server writes one set always with the same bytes. The time reveals an apply in
// our name that isn't recorded. Its record was lost, or another client used the name.
// Writes of others don't change the hash.
func fieldsHash(e *metav1.ManagedFieldsEntry) string {
	fields := sha256.Sum256(e.FieldsV1.GetRawBytes())
	var buffer [sha256.Size + 96]byte // on the stack, for versions of any sane length
	text := append(append(buffer[:0], fields[:]...), e.APIVersion...)
	if e.Time != nil {
		text = e.Time.UTC().AppendFormat(append(text, ' '), time.RFC3339)
	}
	sum := sha256.Sum256(text)
	var digits [16]byte
	hex.Encode(digits[:], sum[:8])
	return string(digits[:])
}

// foreignOwner names another tool's inventory that claims the object, or returns "". It
// ignores the label of ApplySets, because Live.PartOf has it.
func foreignOwner(ref lynq.Ref, m *metav1.PartialObjectMetadata) string {
	b := Object{Ref: ref, Labels: m.Labels, Annotations: m.Annotations, Managers: m.ManagedFields}
	return b.Owner()
}

// LiveOfObject works like LiveOf for a whole object.
func LiveOfObject(ref lynq.Ref, o *unstructured.Unstructured) (*Live, error) {
	m, err := MetadataOf(o)
	if err != nil {
		return nil, err
	}
	l := LiveOf(ref, m)
	return &l, nil
}

// MetadataOf returns the metadata of a whole object.
func MetadataOf(o *unstructured.Unstructured) (*metav1.PartialObjectMetadata, error) {
	b, err := json.Marshal(map[string]any{"metadata": o.Object["metadata"]})
	if err != nil {
		return nil, err
	}
	var m metav1.PartialObjectMetadata
	return &m, json.Unmarshal(b, &m)
}
