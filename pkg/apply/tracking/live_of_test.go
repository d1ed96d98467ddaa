package tracking

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

func fieldsEntry(manager string, operation metav1.ManagedFieldsOperationType, subresource, apiVersion, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: operation, Subresource: subresource, APIVersion: apiVersion,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}
}

func TestLiveOf(t *testing.T) {
	yes, now := true, metav1.Unix(0, 0)
	ref := lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "web"}
	got := LiveOf(ref, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		UID: "u", ResourceVersion: "7", Generation: 3, DeletionTimestamp: &now,
		Labels: map[string]string{
			wellknown.LabelHub: "hub", wellknown.LabelNode: "node", wellknown.LabelNodeNamespace: "ns", wellknown.LabelPartOf: "applyset-x-v1", wellknown.LabelOrphaned: "true",
		},
		Annotations: map[string]string{
			wellknown.AnnotationResourceID: "id", wellknown.AnnotationDeletionPolicy: "Retain", wellknown.AnnotationOrphanedFrom: "a/b/c/d",
			wellknown.AnnotationCreatedOnce: "true", wellknown.AnnotationMode: wellknown.ModeUnmanaged, wellknown.AnnotationAdopted: "true",
			"meta.helm.sh/release-name": "r",
		},
		OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "ConfigMap", Name: "lynqnode-a", UID: "record", Controller: &yes},
			{APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: "plain"},
			{APIVersion: "example.com/v1", Kind: "App", Name: "a", UID: "app", Controller: &yes},
		},
		ManagedFields: []metav1.ManagedFieldsEntry{
			fieldsEntry("lynq", "Apply", "status", "apps/v1", `{"f:status":{}}`),
			fieldsEntry("lynq", "Apply", "", "apps/v1", `{"f:spec":{}}`),
			fieldsEntry("lynq", "Update", "", "apps/v1", `{"f:spec":{}}`),
			fieldsEntry("lynq", "Update", "scale", "apps/v1", `{"f:spec":{"f:replicas":{}}}`),
			fieldsEntry("helm", "Update", "", "apps/v1", `{"f:spec":{}}`),
		},
	}})
	want := Live{
		Ref: ref, UID: "u", ResourceVersion: "7", Generation: 3, Deleting: true,
		Hub: "hub", Node: "node", NodeNamespace: "ns", PartOf: "applyset-x-v1",
		Owners: []types.UID{"record", "plain", "app"}, ResourceID: "id", DeletionPolicy: lynq.DeleteRetain,
		Orphaned: true, CreatedOnce: true, Adopted: true, Unmanaged: true,
		// These are constants, because inventories contain the hash.
		Fields:  "741b6e467dc97708",
		Updated: true, ClientSide: true,
		Few: &Rare{
			Ending: "is being deleted since 1970-01-01T00:00:00Z", OrphanedFrom: "a/b/c/d",
			Controller: "App/a", ControllerUID: "app", Foreign: "Helm release r",
			Updates: []Update{{Version: "apps/v1", Fields: metav1.NewFieldsV1(`{"f:spec":{}}`)}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Live{Ref: ref}, LiveOf(ref, &metav1.PartialObjectMetadata{})); diff != "" {
		t.Error(diff)
	}
}

func TestFieldsHash(t *testing.T) {
	a := fieldsEntry("lynq", "Apply", "", "apps/v1", `{"f:a":{}}`)
	b := fieldsEntry("lynq", "Apply", "", "apps/v1", `{"f:b":{}}`)
	c := fieldsEntry("lynq", "Apply", "", "apps/v2", `{"f:a":{}}`)
	none := metav1.ManagedFieldsEntry{APIVersion: "apps/v1"}
	timed, later, elsewhere := a, a, a
	at := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	timed.Time, later.Time, elsewhere.Time = &metav1.Time{Time: at}, &metav1.Time{Time: at.Add(time.Second)}, &metav1.Time{Time: at.In(time.FixedZone("", 3600))}
	seen := map[string]bool{}
	for _, e := range []*metav1.ManagedFieldsEntry{&a, &b, &c, &none, &timed, &later, &elsewhere} {
		seen[fieldsHash(e)] = true
	}
	if len(seen) != 6 {
		t.Errorf("different entries have the same hash: %v", seen)
	}
}

func appliedAt(e metav1.ManagedFieldsEntry) metav1.ManagedFieldsEntry {
	e.Time = &metav1.Time{Time: time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)}
	return e
}

// commonMetadata returns the metadata of a typical object.
func commonMetadata() *metav1.PartialObjectMetadata {
	yes := true
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		UID: "11111111-1111-1111-1111-111111111111", ResourceVersion: "123456", Generation: 1,
		Labels:          map[string]string{wellknown.LabelHub: "hub", wellknown.LabelPartOf: "applyset-x-v1", "app": "web"},
		Annotations:     map[string]string{wellknown.AnnotationResourceID: "web", wellknown.AnnotationDeletionPolicy: "Delete"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "lynqnode-acme-web", UID: "22222222-2222-2222-2222-222222222222", Controller: &yes}},
		ManagedFields: []metav1.ManagedFieldsEntry{
			appliedAt(fieldsEntry("lynq", "Apply", "", "apps/v1", `{"f:metadata":{"f:annotations":{"f:lynq.sh/deletion-policy":{},"f:lynq.sh/resource-id":{}},"f:labels":{"f:app":{},"f:applyset.kubernetes.io/part-of":{},"f:lynq.sh/hub":{}}},"f:spec":{"f:replicas":{},"f:selector":{},"f:template":{"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:image":{},"f:name":{},"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}}}}}}`)),
			fieldsEntry("kube-controller-manager", "Update", "status", "apps/v1", `{"f:status":{}}`),
		},
	}}
}

// TestLiveOfAllocations counts allocations, because LiveOf runs for each object of a hub.
func TestLiveOfAllocations(t *testing.T) {
	m, ref := commonMetadata(), lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "web"}
	var sink Live
	if n := testing.AllocsPerRun(100, func() { sink = LiveOf(ref, m) }); n > 2 {
		t.Errorf("%v allocations, want the hash and the owners", n)
	}
	if sink.Hub != "hub" {
		t.Error(sink)
	}
}

func BenchmarkLiveOf(b *testing.B) {
	m, ref := commonMetadata(), lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "web"}
	b.ReportAllocs()
	for b.Loop() {
		_ = LiveOf(ref, m)
	}
}

// TestOwnerOfOlderVersion checks owner references of older versions, which set
// blockOwnerDeletion. That doesn't count as a difference, and the next write changes it.
func TestOwnerOfOlderVersion(t *testing.T) {
	owned := func(r metav1.OwnerReference) Live {
		ref := lynq.Ref{Kind: "Secret", Namespace: "ns", Name: "acme"}
		return LiveOf(ref, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{r}}})
	}
	yes := true
	r := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "lynqnode-acme-web", UID: "inv", Controller: &yes}
	now := owned(r)
	r.BlockOwnerDeletion = &yes
	if diff := cmp.Diff(now, owned(r)); diff != "" {
		t.Error(diff)
	}
}

// TestAppliedBy checks that managers that applied after lynq's last write may have taken
// fields.
func TestAppliedBy(t *testing.T) {
	at := func(seconds int64, e metav1.ManagedFieldsEntry) metav1.ManagedFieldsEntry {
		when := metav1.Unix(seconds, 0)
		e.Time = &when
		return e
	}
	got := LiveOf(lynq.Ref{Kind: "ConfigMap"}, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
		at(5, fieldsEntry("lynq", "Apply", "", "v1", `{"f:data":{}}`)),
		at(4, fieldsEntry("before", "Apply", "", "v1", `{"f:data":{}}`)),
		at(6, fieldsEntry("after", "Apply", "", "v1", `{"f:data":{}}`)),
		at(6, fieldsEntry("kubectl-edit", "Update", "", "v1", `{"f:data":{}}`)),
		at(6, fieldsEntry("of-status", "Apply", "status", "v1", `{"f:status":{}}`)),
	}}})
	if diff := cmp.Diff([]string{"after"}, got.Rare().AppliedBy); diff != "" {
		t.Error(diff)
	}
}
