package fields

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// A MetadataChange changes only an object's metadata: its tracking, or its markers as an
// orphan.
type MetadataChange struct {
	SetLabels, SetAnnotations       map[string]string
	RemoveLabels, RemoveAnnotations []string
	// Owners are all desired owner references, including those of others.
	Owners []any
}

// Retracked returns the content for an apply that changes the metadata of an object and
// keeps its content. It has all fields that lynq manages by server-side apply, with the
// change. So a later apply removes fields that it no longer has. Retracked returns false if
// lynq manages nothing that way, or manages it in another API version (see MetadataPatch).
//
// The result repeats the content of the live object, so it is valid only for that
// resourceVersion, which the caller sends too. Labels and annotations of other managers are
// kept, even if the change removes them.
func Retracked(live *unstructured.Unstructured, change MetadataChange) (map[string]any, bool, error) {
	body, ours, err := ownApplied(live)
	if errors.Is(err, errOtherVersion) {
		return nil, false, nil
	}
	if err != nil || !ours {
		return nil, false, err
	}
	metadata := mapAt(body, "metadata")
	change.apply(metadata, "labels", change.SetLabels, change.RemoveLabels)
	change.apply(metadata, "annotations", change.SetAnnotations, change.RemoveAnnotations)
	// Others keep the owners that they set, because an apply would make them ours.
	owners, _ := metadata["ownerReferences"].([]any)
	owners = slices.DeleteFunc(owners, wellknown.IsOwnerNode)
	for _, o := range change.Owners {
		if wellknown.IsOwnerNode(o) {
			owners = append(owners, o)
		}
	}
	setOrDelete(metadata, "ownerReferences", owners)
	return body, true, nil
}

func (MetadataChange) apply(metadata map[string]any, field string, set map[string]string, remove []string) {
	m := mapAt(metadata, field)
	for _, key := range remove {
		delete(m, key)
	}
	for key, v := range set {
		m[key] = v
	}
	if len(m) == 0 {
		delete(metadata, field)
	}
}

// MetadataPatch returns a JSON merge patch that changes the metadata of an object without
// server-side apply by lynq. It is valid only for the live object's uid and
// resourceVersion.
func MetadataPatch(live *unstructured.Unstructured, change MetadataChange) ([]byte, error) {
	metadata := map[string]any{"uid": string(live.GetUID()), "resourceVersion": live.GetResourceVersion()}
	PatchStrings(metadata, "labels", change.SetLabels, change.RemoveLabels, live.GetLabels())
	PatchStrings(metadata, "annotations", change.SetAnnotations, change.RemoveAnnotations, live.GetAnnotations())
	if len(change.Owners) > 0 || len(live.GetOwnerReferences()) > 0 {
		metadata["ownerReferences"] = append([]any{}, change.Owners...)
	}
	return Marshal(map[string]any{"metadata": metadata})
}

// PatchStrings adds labels or annotations to a merge patch of metadata. It sets all of set,
// and removes the keys of remove that exist.
func PatchStrings(metadata map[string]any, field string, set map[string]string, remove []string, live map[string]string) {
	patch := map[string]any{}
	for _, key := range remove {
		if _, there := live[key]; there {
			patch[key] = nil
		}
	}
	for key, v := range set {
		patch[key] = v
	}
	if len(patch) > 0 {
		metadata[field] = patch
	}
}

// mapAt returns the map in a field, and creates it if necessary.
func mapAt(m map[string]any, field string) map[string]any {
	child, ok := m[field].(map[string]any)
	if !ok {
		child = map[string]any{}
		m[field] = child
	}
	return child
}

func setOrDelete(m map[string]any, field string, list []any) {
	if len(list) == 0 {
		delete(m, field)
		return
	}
	m[field] = list
}
