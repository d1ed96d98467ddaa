package fields

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// errOtherVersion means that lynq applied the fields in another API version than that of
// the live object.
var errOtherVersion = errors.New("but it was read as")

// ownApplied returns the part of a live object that lynq manages by server-side apply. To
// apply it again changes nothing. It returns false if lynq manages nothing that way.
//
// If lynq manages a map or list as a whole, the part has all of its content, except parts
// of other managers. Without the schema, defaults in an empty map look the same, and become
// ours.
func ownApplied(live *unstructured.Unstructured) (map[string]any, bool, error) {
	managed, err := Managed(live)
	if err != nil {
		return nil, false, err
	}
	i := slices.IndexFunc(managed, func(m ManagedSet) bool { return m.applied() })
	if i < 0 {
		return nil, false, nil
	}
	if own := managed[i].apiVersion; own != live.GetAPIVersion() {
		return nil, false, fmt.Errorf("what was applied to %s %s is recorded for %s: %w %s", live.GetKind(), live.GetName(), own, errOtherVersion, live.GetAPIVersion())
	}
	others := fieldpath.NewSet()
	for j := range managed {
		if j != i {
			others = others.Union(managed[j].fields)
		}
	}
	body, ok := ownPart(live.Object, managed[i].fields, others).(map[string]any)
	if !ok {
		body = map[string]any{}
	}
	identify(body, live)
	return body, true, nil
}

// identify adds the object's identity to a manifest.
func identify(body map[string]any, live *unstructured.Unstructured) {
	body["apiVersion"], body["kind"] = live.GetAPIVersion(), live.GetKind()
	metadata := mapAt(body, "metadata")
	metadata["name"] = live.GetName()
	if ns := live.GetNamespace(); ns != "" {
		metadata["namespace"] = ns
	}
}

// ownPart returns the part of a value that is in a set, in the value's order.
func ownPart(v any, own, others *fieldpath.Set) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, pe := range elements(own) {
			if item, ok := at(v, pe); ok {
				out[*pe.FieldName] = ownItem(item, pe, own, others)
			}
		}
		return out
	case []any:
		taken := map[int]any{}
		for _, pe := range elements(own) {
			if i := find(v, pe); i >= 0 {
				taken[i] = ownItem(v[i], pe, own, others)
			}
		}
		out := make([]any, 0, len(taken))
		for _, i := range slices.Sorted(maps.Keys(taken)) {
			out = append(out, taken[i])
		}
		return out
	}
	return v
}

// ownItem returns the part of the value at a path element that is in a set.
func ownItem(item any, pe fieldpath.PathElement, own, others *fieldpath.Set) any {
	children, theirs := below(own, pe), below(others, pe)
	if children == nil && theirs == nil {
		return runtime.DeepCopyJSONValue(item)
	}
	// Without children of ours, others manage all of its content.
	part := ownPart(item, children, theirs)
	if m, ok := part.(map[string]any); ok && pe.Key != nil {
		addKeys(m, item, pe, own.Members.Has(pe))
	}
	return part
}

// addKeys adds the keys of a list's item. A whole item that lynq applied with some of its
// keys has the others by default. It gets them by default again, and an explicit value
// would become ours.
func addKeys(part map[string]any, item any, pe fieldpath.PathElement, whole bool) {
	if whole && slices.ContainsFunc(*pe.Key, func(f value.Field) bool { _, said := part[f.Name]; return said }) {
		return
	}
	for _, f := range *pe.Key {
		part[f.Name], _ = at(item, fieldpath.FieldNameElement(f.Name))
	}
}
