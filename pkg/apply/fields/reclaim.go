package fields

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// Reclaimed returns the fields that patchStrategy override takes back and the manifest
// lacks. The next apply removes them.
func Reclaimed(live *unstructured.Unstructured, manifest map[string]any) ([]Conflict, error) {
	entries, err := Entries(live)
	if err != nil {
		return nil, err
	}
	version := reclaimVersion(entries)
	var found []Conflict
	for i := range entries {
		e := &entries[i]
		taken, _, err := reclaim(e, version)
		if err != nil {
			return nil, err
		}
		said := saidOf(taken, manifest)
		taken.Leaves().Difference(said).Iterate(func(p fieldpath.Path) {
			if !said.Has(p) && p[0].FieldName != nil && *p[0].FieldName != "stringData" {
				found = append(found, Conflict{Manager: e.Manager, Field: p.String(), Applied: e.Operation == metav1.ManagedFieldsOperationApply})
			}
		})
	}
	return SortConflicts(found), nil
}

// reclaimed returns managedFields in which lynq manages the fields of client-side tools, as
// by an update. They needn't be in the form.
func reclaimed(entries []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, error) {
	version := reclaimVersion(entries)
	var out []metav1.ManagedFieldsEntry
	for i := range entries {
		e := entries[i]
		taken, rest, err := reclaim(&e, version)
		if err != nil {
			return nil, err
		}
		if taken.Empty() {
			out = append(out, e)
			continue
		}
		if !rest.Empty() {
			kept := e
			if err := setFields(&kept, rest); err != nil {
				return nil, err
			}
			out = append(out, kept)
		}
		e.Manager, e.Operation = wellknown.FieldManager, metav1.ManagedFieldsOperationUpdate
		if err := setFields(&e, taken); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// reclaimVersion returns the API version of movable entries. That is the version of lynq's
// apply, or else of the first entry.
func reclaimVersion(entries []metav1.ManagedFieldsEntry) string {
	if version := appliedVersion(entries); version != "" {
		return version
	}
	for i := range entries {
		if clientSide(&entries[i]) {
			return entries[i].APIVersion
		}
	}
	return ""
}

// reclaim splits a manager's fields into those that lynqctl takes back and the rest. Fields
// that it applied as stringData of a Secret are in its data.
func reclaim(e *metav1.ManagedFieldsEntry, version string) (taken, rest *fieldpath.Set, err error) {
	set, err := fieldsOf(e)
	if err != nil || !clientSide(e) || e.APIVersion != version {
		return fieldpath.NewSet(), set, err
	}
	taken = set.RecursiveDifference(heldBack()).RecursiveDifference(fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "ownerReferences")))
	rest = set.Difference(taken)
	if texts := below(taken, fieldpath.FieldNameElement("stringData")); texts != nil && e.APIVersion == "v1" {
		data := fieldpath.NewSet()
		*data.Children.Descend(fieldpath.FieldNameElement("data")) = *texts
		taken = taken.Union(data)
	}
	return taken, rest, nil
}
