package diff

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// clean returns a copy of an object without the fields of the server and lynqctl's own marks.
func clean(object map[string]any) map[string]any {
	if object == nil {
		return nil
	}
	c := runtime.DeepCopyJSON(object)
	delete(c, "status")
	metadata, _ := c["metadata"].(map[string]any)
	for _, key := range []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink",
		"deletionTimestamp", "deletionGracePeriodSeconds"} {
		delete(metadata, key)
	}
	split(metadata)
	return c
}

// bookkeeping are the marks of an object that say to whom it belongs.
func bookkeeping(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	return split(runtime.DeepCopyJSON(metadata))
}

// split moves lynqctl's marks out of an object's metadata.
func split(metadata map[string]any) map[string]any {
	out := map[string]any{}
	for _, field := range []string{"labels", "annotations"} {
		m, _ := metadata[field].(map[string]any)
		kept := map[string]any{}
		for key, v := range m {
			if wellknown.Reserved(key) {
				kept[key] = v
				delete(m, key)
			}
		}
		if m != nil && len(m) == 0 {
			delete(metadata, field)
		}
		out[field] = kept
	}
	owners, _ := metadata["ownerReferences"].([]any)
	var ours, others []any
	for _, o := range owners {
		if wellknown.IsOwnerNode(o) {
			ours = append(ours, o)
		} else {
			others = append(others, o)
		}
	}
	delete(metadata, "ownerReferences")
	if len(others) > 0 {
		metadata["ownerReferences"] = others
	}
	out["ownerReferences"] = ours
	return out
}
