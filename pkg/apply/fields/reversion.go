package fields

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Reversioned returns managers' entries with another API version in place of one that the
// server no longer serves. Each manager keeps its fields, so that an apply still removes
// fields that a form dropped, and conflicts are still found. Two entries of one manager
// become one. changed is false if no entry has that version.
func Reversioned(entries []metav1.ManagedFieldsEntry, unserved, served string) (next []metav1.ManagedFieldsEntry, changed bool, err error) {
	for i := range entries {
		e := entries[i]
		if e.APIVersion == unserved {
			e.APIVersion, changed = served, true
		}
		same := -1
		for j := range next {
			o := &next[j]
			if o.Manager == e.Manager && o.Operation == e.Operation && o.Subresource == e.Subresource && o.APIVersion == e.APIVersion {
				same = j
			}
		}
		if same < 0 {
			next = append(next, e)
			continue
		}
		if next[same].FieldsV1, err = union(next[same].FieldsV1, e.FieldsV1); err != nil {
			return nil, false, err
		}
	}
	return next, changed, nil
}

// union returns the fields of both sets, each of which may be nil.
func union(a, b *metav1.FieldsV1) (*metav1.FieldsV1, error) {
	all := fieldpath.NewSet()
	for _, f := range []*metav1.FieldsV1{a, b} {
		if f == nil {
			continue
		}
		set := fieldpath.NewSet()
		if err := set.FromJSON(f.GetRawReader()); err != nil {
			return nil, err
		}
		all = all.Union(set)
	}
	raw, err := all.ToJSON()
	return metav1.NewFieldsV1(string(raw)), err
}
