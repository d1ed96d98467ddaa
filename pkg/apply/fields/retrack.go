package fields

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// A MetadataChange is a change of an object's metadata alone: of its tracking, or
// of its markers as an orphan.
type MetadataChange struct {
	SetLabels, SetAnnotations       map[string]string
	RemoveLabels, RemoveAnnotations []string
	// Owners are all owner references that the object is to have, those of
	// others too.
	Owners []any
}

// Retracked returns the content that lynq applies to change the metadata of an object
// and keep its content: all that lynq manages by server-side apply, with the change. A
// later apply then removes what it does not say. It returns false where lynq manages
// nothing that way, or manages it in another version of the API than that of the live
// object; see MetadataPatch.
//
// The result holds for the live object's resourceVersion only, which the caller sends
// along: it repeats the content that was read. Labels and annotations that others
// manage stay, though the result lists them among those to remove.
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
	// The owners that others set stay theirs: applying them would make them ours.
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

// apply changes labels or annotations.
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

// MetadataPatch is a JSON merge patch that changes the metadata of an object
// that lynq does not manage by server-side apply. It holds for the live
// object's uid and resourceVersion only.
func MetadataPatch(live *unstructured.Unstructured, change MetadataChange) ([]byte, error) {
	metadata := map[string]any{"uid": string(live.GetUID()), "resourceVersion": live.GetResourceVersion()}
	PatchStrings(metadata, "labels", change.SetLabels, change.RemoveLabels, live.GetLabels())
	PatchStrings(metadata, "annotations", change.SetAnnotations, change.RemoveAnnotations, live.GetAnnotations())
	if len(change.Owners) > 0 || len(live.GetOwnerReferences()) > 0 {
		metadata["ownerReferences"] = append([]any{}, change.Owners...)
	}
	return Marshal(map[string]any{"metadata": metadata})
}

// PatchStrings adds to a merge patch of metadata the labels or annotations that are
// set, and those of the ones to be removed that are there.
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

// mapAt is the map in a field, made where there is none.
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
