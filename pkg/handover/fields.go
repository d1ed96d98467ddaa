package handover

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// operatorManager is the name under which the operator applies.
const operatorManager = "lynq-operator"

// takenFields returns managedFields in which lynqctl has the operator's fields. So a field
// that the form drops later goes with the next apply. changed reports whether they differ.
//
// The fields that the operator applied join those that lynqctl applied. With the strategies
// merge and replace, the operator writes under the name of its program, which many
// controllers share. Their entries are those with the annotation that each such write sets.
// All other entries, and those of subresources, stay.
func takenFields(entries []metav1.ManagedFieldsEntry, strategy lynq.PatchStrategy) (kept []metav1.ManagedFieldsEntry, changed bool, err error) {
	kept = make([]metav1.ManagedFieldsEntry, 0, len(entries))
	var moving []metav1.ManagedFieldsEntry
	for i := range entries {
		theirs, err := operatorEntry(&entries[i], strategy)
		if err != nil {
			return nil, false, err
		}
		if theirs {
			moving = append(moving, entries[i])
		} else {
			kept = append(kept, entries[i])
		}
	}
	for i := range moving {
		if kept, err = joined(kept, &moving[i]); err != nil {
			return nil, false, err
		}
	}
	return kept, len(moving) > 0, nil
}

// operatorEntry reports whether the operator has an entry.
func operatorEntry(e *metav1.ManagedFieldsEntry, strategy lynq.PatchStrategy) (bool, error) {
	switch {
	case e.Subresource != "" || e.Manager == wellknown.FieldManager:
		return false, nil
	case e.Manager == operatorManager:
		return true, nil
	case e.Operation != metav1.ManagedFieldsOperationUpdate || strategy == lynq.PatchApply:
		return false, nil
	}
	set, err := fieldsOf(e)
	if err != nil {
		return false, err
	}
	return set.Has(fieldpath.MakePathOrDie("metadata", "annotations", annotationAppliedHash)), nil
}

// joined adds an entry of the operator to lynqctl's entry for the same operation.
func joined(entries []metav1.ManagedFieldsEntry, e *metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, error) {
	moved := *e
	moved.Manager = wellknown.FieldManager
	at := slices.IndexFunc(entries, func(o metav1.ManagedFieldsEntry) bool {
		// A manager has one entry for all that it applied, in any version.
		return o.Manager == wellknown.FieldManager && o.Operation == e.Operation && o.Subresource == "" &&
			(e.Operation == metav1.ManagedFieldsOperationApply || o.APIVersion == e.APIVersion)
	})
	if at < 0 {
		return append(entries, moved), nil
	}
	ours := &entries[at]
	if ours.APIVersion != e.APIVersion {
		return nil, fmt.Errorf("the operator applied it in version %s, and lynqctl in version %s: what both manage cannot be joined (take the entry of %s out of its metadata.managedFields)", e.APIVersion, ours.APIVersion, e.Manager)
	}
	own, err := fieldsOf(ours)
	if err != nil {
		return nil, err
	}
	theirs, err := fieldsOf(e)
	if err != nil {
		return nil, err
	}
	text, err := own.Union(theirs).ToJSON()
	if err != nil {
		return nil, err
	}
	ours.FieldsV1 = metav1.NewFieldsV1(string(text))
	if ours.Time.Before(e.Time) {
		ours.Time = e.Time
	}
	return entries, nil
}

func fieldsOf(e *metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	set := fieldpath.NewSet()
	if raw := e.FieldsV1.GetRawReader(); raw.Size() > 0 {
		if err := set.FromJSON(raw); err != nil {
			return nil, fmt.Errorf("the fields that %q manages cannot be read: %w", e.Manager, err)
		}
	}
	return set, nil
}
