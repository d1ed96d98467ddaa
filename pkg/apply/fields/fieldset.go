package fields

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// A ManagedSet is the set of an object's fields with one manager.
type ManagedSet struct {
	manager, subresource, apiVersion string
	operation                        metav1.ManagedFieldsOperationType
	time                             *metav1.Time
	fields                           *fieldpath.Set
}

// applied reports whether lynq manages the fields by server-side apply.
func (m *ManagedSet) applied() bool {
	return m.manager == wellknown.FieldManager && m.operation == metav1.ManagedFieldsOperationApply && m.subresource == ""
}

// Entries reads managedFields. It returns an error for an unreadable entry, so that its
// fields don't seem to have no manager.
func Entries(live *unstructured.Unstructured) ([]metav1.ManagedFieldsEntry, error) {
	unreadable := fmt.Errorf("the managed fields of %s %s cannot be read", live.GetKind(), live.GetName())
	value, _, _ := unstructured.NestedFieldNoCopy(live.Object, "metadata", "managedFields")
	list, ok := value.([]any)
	if !ok && value != nil {
		return nil, unreadable
	}
	for _, item := range list {
		if _, ok := item.(map[string]any); !ok {
			return nil, unreadable
		}
	}
	entries := live.GetManagedFields()
	if len(entries) != len(list) {
		return nil, unreadable
	}
	return entries, nil
}

// Managed reads managedFields as sets.
func Managed(live *unstructured.Unstructured) ([]ManagedSet, error) {
	entries, err := Entries(live)
	if err != nil {
		return nil, err
	}
	managed, err := Sets(entries)
	if err != nil {
		return nil, fmt.Errorf("the managed fields of %s %s: %w", live.GetKind(), live.GetName(), err)
	}
	return managed, nil
}

// Sets converts entries of managedFields, in their order.
func Sets(entries []metav1.ManagedFieldsEntry) ([]ManagedSet, error) {
	managed := make([]ManagedSet, len(entries))
	for i := range entries {
		e := &entries[i]
		fields, err := fieldsOf(e)
		if err != nil {
			return nil, err
		}
		managed[i] = ManagedSet{manager: e.Manager, subresource: e.Subresource, apiVersion: e.APIVersion, operation: e.Operation, time: e.Time, fields: fields}
	}
	return managed, nil
}

// fieldsOf reads one entry.
func fieldsOf(e *metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	fields := fieldpath.NewSet()
	if raw := e.FieldsV1.GetRawReader(); raw.Size() > 0 {
		if err := fields.FromJSON(raw); err != nil {
			return nil, fmt.Errorf("the fields that %q manages cannot be read: %w", e.Manager, err)
		}
	}
	return fields, nil
}

// below returns the part of a set under a path element, or nil.
func below(s *fieldpath.Set, pe fieldpath.PathElement) *fieldpath.Set {
	if s == nil {
		return nil
	}
	if child, ok := s.Children.Get(pe); ok && !child.Empty() {
		return child
	}
	return nil
}

// has reports whether a set has a path element or anything under it.
func has(s *fieldpath.Set, pe fieldpath.PathElement) bool {
	return s != nil && (s.Members.Has(pe) || below(s, pe) != nil)
}

// elements returns the path elements at the top of a set.
func elements(s *fieldpath.Set) []fieldpath.PathElement {
	if s == nil {
		return nil
	}
	var out []fieldpath.PathElement
	s.Members.Iterate(func(pe fieldpath.PathElement) { out = append(out, pe) })
	s.Children.Iterate(func(pe fieldpath.PathElement) {
		if !s.Members.Has(pe) && below(s, pe) != nil {
			out = append(out, pe)
		}
	})
	return out
}

// at returns the part of a value at a path element.
func at(v any, pe fieldpath.PathElement) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		if pe.FieldName == nil {
			return nil, false
		}
		item, ok := v[*pe.FieldName]
		return item, ok
	case []any:
		if i := find(v, pe); i >= 0 {
			return v[i], true
		}
	}
	return nil, false
}

// find returns the index of the list item that a path element identifies, or -1.
func find(list []any, pe fieldpath.PathElement) int {
	if pe.Index != nil {
		if *pe.Index >= 0 && *pe.Index < len(list) {
			return *pe.Index
		}
		return -1
	}
	for i, item := range list {
		if means(pe, item) {
			return i
		}
	}
	return -1
}

// means reports whether a path element identifies this list item, by its keys or its value.
func means(pe fieldpath.PathElement, item any) bool {
	switch {
	case pe.Key != nil:
		m, ok := item.(map[string]any)
		if !ok {
			return false
		}
		for _, f := range *pe.Key {
			if got, ok := m[f.Name]; !ok || !sameValue(got, f.Value) {
				return false
			}
		}
		return true
	case pe.Value != nil:
		return sameValue(item, *pe.Value)
	}
	return false
}

// couldMean works like means for an item without the server's default keys. Some keys must
// exist, and match.
func couldMean(pe fieldpath.PathElement, item any) bool {
	if pe.Key == nil {
		return means(pe, item)
	}
	m, ok := item.(map[string]any)
	if !ok {
		return false
	}
	some := false
	for _, f := range *pe.Key {
		if got, ok := m[f.Name]; ok {
			if !sameValue(got, f.Value) {
				return false
			}
			some = true
		}
	}
	return some
}

func sameValue(v any, want value.Value) bool {
	return value.Equals(value.NewValueInterface(v), want)
}
