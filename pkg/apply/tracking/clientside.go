package tracking

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// toolsManage reports whether client-side tools manage fields that patchStrategy override
// restores. It ignores entries of another API version than lynq's, because lynqctl can't
// convert those.
func toolsManage(entries []metav1.ManagedFieldsEntry) bool {
	version := ""
	for i := range entries {
		if e := &entries[i]; e.Manager == wellknown.FieldManager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == "" {
			version = e.APIVersion
		}
	}
	for i := range entries {
		e := &entries[i]
		if e.Subresource == "" && kinds.ClientSide(e.Manager, e.Operation == metav1.ManagedFieldsOperationApply) &&
			(version == "" || version == e.APIVersion) && holdsMore(e) {
			return true
		}
	}
	return false
}

// holdsMore reports whether an entry has fields beyond those that lynqctl leaves to other
// clients. It returns true for an unreadable entry, so that the write reports the error.
func holdsMore(e *metav1.ManagedFieldsEntry) bool {
	set, held := fieldpath.NewSet(), fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "ownerReferences"))
	for _, names := range kinds.HeldBack() {
		var path fieldpath.Path
		for _, name := range names {
			path = append(path, fieldpath.FieldNameElement(name))
		}
		held.Insert(path)
	}
	if raw := e.FieldsV1.GetRawReader(); raw.Size() > 0 && set.FromJSON(raw) != nil {
		return true
	}
	return !set.RecursiveDifference(held).Empty()
}
