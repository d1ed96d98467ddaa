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

// errOtherVersion: the fields that lynq applied are named in another version of
// the API than the object was read in.
var errOtherVersion = errors.New("but it was read as")

// ownApplied is the part of a live object that lynq manages by server-side
// apply: what changes nothing when it is applied again. It is false where
// lynq manages nothing that way.
//
// A map or list that lynq manages as a whole is taken with all that is in it,
// unless other managers manage parts of it. Without the schema the defaults in
// one that was applied empty look like that too; they then become ours.
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

// identify says of a manifest which object it is.
func identify(body map[string]any, live *unstructured.Unstructured) {
	body["apiVersion"], body["kind"] = live.GetAPIVersion(), live.GetKind()
	metadata := mapAt(body, "metadata")
	metadata["name"] = live.GetName()
	if ns := live.GetNamespace(); ns != "" {
		metadata["namespace"] = ns
	}
}

// ownPart is what a set has of a value, in the value's order.
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

// ownItem is what a set has of the value that a path element leads to.
func ownItem(item any, pe fieldpath.PathElement, own, others *fieldpath.Set) any {
	children, theirs := below(own, pe), below(others, pe)
	if children == nil && theirs == nil {
		return runtime.DeepCopyJSONValue(item)
	}
	// Without children of ours, what is in it is all theirs.
	part := ownPart(item, children, theirs)
	if m, ok := part.(map[string]any); ok && pe.Key != nil {
		addKeys(m, item, pe, own.Members.Has(pe))
	}
	return part
}

// addKeys completes the keys of a list's item. A whole item that was applied
// with some of its keys has the others by default, and gets them so again; said
// aloud they would become ours.
func addKeys(part map[string]any, item any, pe fieldpath.PathElement, whole bool) {
	if whole && slices.ContainsFunc(*pe.Key, func(f value.Field) bool { _, said := part[f.Name]; return said }) {
		return
	}
	for _, f := range *pe.Key {
		part[f.Name], _ = at(item, fieldpath.FieldNameElement(f.Name))
	}
}
