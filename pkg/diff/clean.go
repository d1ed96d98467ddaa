package diff

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// clean is a copy of an object without what no manifest says: what the server
// keeps, and our own bookkeeping.
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

// bookkeeping is what of an object says whose it is.
func bookkeeping(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	return split(runtime.DeepCopyJSON(metadata))
}

// split takes our bookkeeping out of an object's metadata.
func split(metadata map[string]any) map[string]any {
	out := map[string]any{}
	for _, field := range []string{"labels", "annotations"} {
		m, _ := metadata[field].(map[string]any)
		kept := map[string]any{}
		for key, v := range m {
			if lynq.Reserved(key) {
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
		if lynq.IsOwnerNode(o) {
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

// What is in the place of a Secret's values.
const (
	masked       = "***"
	maskedBefore = "*** (before)"
	maskedAfter  = "*** (after)"
)

// lastApplied holds a whole manifest, with the values of a Secret.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// mask hides the values of a Secret on both sides. They show whether they differ,
// and nothing else. The objects themselves are changed; either may be nil.
func mask(live, next map[string]any) {
	if !isSecret(live) && !isSecret(next) {
		return
	}
	for _, field := range []string{"data", "stringData"} {
		maskMaps(live, next, field)
	}
	maskValue(annotations(live), annotations(next), lastApplied)
}

func isSecret(m map[string]any) bool { return m["kind"] == "Secret" && m["apiVersion"] == "v1" }

func annotations(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	m, _ := metadata["annotations"].(map[string]any)
	return m
}

func maskMaps(live, next map[string]any, field string) {
	l, n := asMap(live, field), asMap(next, field)
	for key := range l {
		maskValue(l, n, key)
	}
	for key := range n {
		if _, both := l[key]; !both {
			maskValue(l, n, key)
		}
	}
}

// asMap is a field of an object that is a map. Anything else in its place is
// hidden as a whole.
func asMap(object map[string]any, field string) map[string]any {
	v, there := object[field]
	if !there || v == nil {
		return nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		object[field] = masked
	}
	return m
}

// maskValue hides one value on both sides.
func maskValue(live, next map[string]any, key string) {
	l, before := live[key]
	n, after := next[key]
	differ := before && after && !same(l, n)
	if before {
		live[key] = word(differ, maskedBefore)
	}
	if after {
		next[key] = word(differ, maskedAfter)
	}
}

func word(differ bool, changed string) string {
	if differ {
		return changed
	}
	return masked
}
